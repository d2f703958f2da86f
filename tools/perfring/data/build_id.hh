/* SPDX-License-Identifier: GPL-2.0 */
/* Build ids: what a linker has put into a file to tell it from all others. */
#ifndef PERFRING_DATA_BUILD_ID_HH
#define PERFRING_DATA_BUILD_ID_HH

#include <string>

#include "bytes.hh"

namespace perfring::data {

/* Of ELF notes, as in /sys/kernel/notes. Empty: none there, or not notes. */
Bytes build_id_of_notes(ByteView notes);

/* Of a whole ELF image of this machine's byte order, 32 or 64 bits. Empty: none. */
Bytes build_id_of_image(ByteView image);

/* Of an ELF file; reads no more than its tables and notes. Empty: none, or no such file. */
Bytes build_id_of_file(const std::string &path);

/* Of the running kernel, a module ("ext4") and the vDSO. Empty: not to be had. */
Bytes build_id_of_kernel(const std::string &root = {});
Bytes build_id_of_module(const std::string &name, const std::string &root = {});
Bytes build_id_of_vdso();

} /* namespace perfring::data */

#endif /* PERFRING_DATA_BUILD_ID_HH */
