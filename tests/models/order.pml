/* SPDX-License-Identifier: GPL-2.0 */
/*
 * =====================================================
 * The four memory-order edges between writer and reader
 * =====================================================
 *
 * What is modelled
 * ----------------
 * One record after the other goes through the ring, written on one CPU and read
 * on another, both of which may let their memory operations take effect in any
 * order that nothing forbids. For record k these are
 *
 *	writer				reader
 *	T(k)  load data_tail		h(k)  load data_head
 *	      | A			      | C
 *	D(k)  store the record		d(k)  load the record
 *	      | B			      | D
 *	H(k)  store data_head		t(k)  store data_tail
 *
 * A and C are acquire: every later operation of that CPU comes after. B and D
 * are release: every earlier one comes before. Nothing else keeps two
 * operations apart but that they are on the same word: a CPU's loads of one
 * word, and its stores to one word, take effect in program order. So a store
 * may sit in a store buffer behind younger ones, a load may be early or late,
 * and operations of several records are under way at a time.
 *
 * -DNO_A, -DNO_B, -DNO_C, -DNO_D each leave one edge out.
 *
 * What is checked
 * ---------------
 * Every word that the reader loads for record k, once data_head has told it of
 * record k, is record k's: not an older one's, not a younger one's. And all
 * records get through: no end state but the one where all is done.
 *
 * What is abstracted
 * ------------------
 * - An operation takes effect for both CPUs at once. With two CPUs that is no
 *   restriction: the one other CPU's view is the only one there is.
 * - A load that does not find what it waits for (room, a record) is repeated,
 *   so only the one that does is modelled. This leaves in, without A, the
 *   execution in which a record is stored first and its room turns up later.
 * - data_tail and data_head count records; kernel/events/ring/data_ring.hh
 *   counts bytes. Nesting is nesting.pml's.
 * - A, as a control dependency, orders only stores behind the load. The writer
 *   has no later load but of data_tail itself, so acquire is the same here.
 *
 * Bounds
 * ------
 * A ring of two records of two words, five records: each word is used, used
 * again, and used again while the record before is still under way; two words
 * show a record of which half has arrived.
 */
/* The edges that are the kernel's, as the code has them; steps.awk looks. */
/* A1 primitives.hh: __atomic_load_n(&tail, __ATOMIC_ACQUIRE) */
/* A2 data_ring.hh: P::load_tail(ring.control->data_tail); */
/* B1 primitives.hh: __atomic_store_n(&head, static_cast<unsigned long long>(value), __ATOMIC_RELEASE); */
/* B2 data_ring.hh: P::publish_head(ring.control->data_head, head); */

#define SLOTS		2
#define RECORDS		5

#ifdef NO_A
#define EDGE_A(before)	true
#else
#define EDGE_A(before)	(before)
#endif
#ifdef NO_B
#define EDGE_B(before)	true
#else
#define EDGE_B(before)	(before)
#endif
#ifdef NO_C
#define EDGE_C(before)	true
#else
#define EDGE_C(before)	(before)
#endif
#ifdef NO_D
#define EDGE_D(before)	true
#else
#define EDGE_D(before)	(before)
#endif

/* In memory. Record k consists of two words with the value k + 1. */
byte data_head, data_tail;
byte word[2 * SLOTS];

/*
 * Which operations have taken effect. Those that are ordered among themselves
 * are counted, of the others a bit for each record is set.
 */
byte T, H, h, t;
byte D[2], d[2];

/* What the reader's loads found. */
byte found[2 * RECORDS];

#define BIT(k)		(1 << (k))
#define UP_TO(k)	(BIT((k) + 1) - 1)
#define HAS(set, k)	(((set) & BIT(k)) != 0)
#define HAS_ALL(set, k)	(((set) & UP_TO(k)) == UP_TO(k))
#define WORD(k, i)	word[2 * ((k) % SLOTS) + (i)]
/* The operation on the same word, one lap before. */
#define LAP_BEFORE(set, k) ((k) < SLOTS || HAS(set, ((k) + RECORDS - SLOTS) % RECORDS))

/* D(k) and d(k), one word each. */
#define STORE_WORD(k, i)							\
	:: d_step {								\
		!HAS(D[i], k) && LAP_BEFORE(D[i], k) && EDGE_A(T > k) ->	\
		WORD(k, i) = k + 1;						\
		D[i] = D[i] | BIT(k)						\
	}

#define LOAD_WORD(k, i)								\
	:: d_step {								\
		!HAS(d[i], k) && LAP_BEFORE(d[i], k) && EDGE_C(h > k) ->	\
		found[2 * k + i] = WORD(k, i);					\
		d[i] = d[i] | BIT(k);						\
		check(k)							\
	}

/* The loads of record k are all that the reader needs to believe in it. */
inline check(k)
{
	if
	:: h > k && HAS(d[0], k) -> assert(found[2 * k] == k + 1)
	:: else
	fi;
	if
	:: h > k && HAS(d[1], k) -> assert(found[2 * k + 1] == k + 1)
	:: else
	fi
}

active proctype writer()
{
	do
	:: d_step {
		/* T(k) */
		T < RECORDS && T - data_tail < SLOTS ->
		T++
	}
	STORE_WORD(0, 0) STORE_WORD(0, 1)
	STORE_WORD(1, 0) STORE_WORD(1, 1)
	STORE_WORD(2, 0) STORE_WORD(2, 1)
	STORE_WORD(3, 0) STORE_WORD(3, 1)
	STORE_WORD(4, 0) STORE_WORD(4, 1)
	:: d_step {
		/* H(k) */
		H < RECORDS && EDGE_A(T > H) &&
		EDGE_B(T > H && HAS_ALL(D[0], H) && HAS_ALL(D[1], H)) ->
		H++;
		data_head = H
	}
	:: T == RECORDS && H == RECORDS &&
	   HAS_ALL(D[0], RECORDS - 1) && HAS_ALL(D[1], RECORDS - 1) -> break
	od
}

active proctype reader()
{
	do
	:: d_step {
		/* h(k) */
		h < RECORDS && data_head > h ->
		h++;
		check(h - 1)
	}
	LOAD_WORD(0, 0) LOAD_WORD(0, 1)
	LOAD_WORD(1, 0) LOAD_WORD(1, 1)
	LOAD_WORD(2, 0) LOAD_WORD(2, 1)
	LOAD_WORD(3, 0) LOAD_WORD(3, 1)
	LOAD_WORD(4, 0) LOAD_WORD(4, 1)
	:: d_step {
		/* t(k) */
		t < RECORDS && EDGE_C(h > t) &&
		EDGE_D(h > t && HAS_ALL(d[0], t) && HAS_ALL(d[1], t)) ->
		t++;
		data_tail = t
	}
	:: h == RECORDS && t == RECORDS &&
	   HAS_ALL(d[0], RECORDS - 1) && HAS_ALL(d[1], RECORDS - 1) -> break
	od
}
