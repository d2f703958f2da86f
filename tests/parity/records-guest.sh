#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: records-guest.sh NAME runs the cases on a tmpfs, so that nothing
# waits for the host, and leaves the dumps in the share.

set -u
mkdir /tmp/dumps || exit
/tmp/share/records /tmp/dumps "$1"
status=$?
cp /tmp/dumps/* /tmp/share/dumps/ || exit
exit $status
