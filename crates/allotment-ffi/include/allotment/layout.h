/* allotment/layout.h: constants of the library, which printed this file.
 * Do not edit it: `ALLOTMENT_WRITE_LAYOUT=1 cargo test -p allotment-ffi layout` prints it. */
#ifndef ALLOTMENT_LAYOUT_H
#define ALLOTMENT_LAYOUT_H

#define AL_HOT_VERSION 6 /* version of these offsets */
#define AL_TOP_OFFSET 0 /* address of the next free byte */
#define AL_LIMIT_OFFSET 8 /* limit for memory that need not be zero */
#define AL_ZEROED_LIMIT_OFFSET 16 /* limit for memory that must be zero */
#define AL_REQUESTED_OFFSET 24 /* not 0 while a stop is requested */
#define AL_BARRIERS_OFFSET 40 /* the barriers in force, as bits */
#define AL_WATERMARK_OFFSET 48 /* the top at which code prefetches again */
#define AL_CARDS_OFFSET 56 /* biased address of the card table */
#define AL_FRAME_OFFSET 88 /* the frame that called the heap last */
#define AL_LOAD_SLOW_OFFSET 96 /* slow path of a load */
#define AL_LOAD_WEAK_SLOW_OFFSET 104 /* slow path of a load from a weak slot */
#define AL_STORE_SLOW_OFFSET 112 /* slow path before a store */
#define AL_COMPARE_EXCHANGE_SLOW_OFFSET 120 /* slow path of a compare-and-exchange */
#define AL_REGION_OFFSET 128 /* region of a thread without buffers */
#define AL_REGION_OBJECTS_OFFSET 136 /* objects taken from such regions */
#define AL_REGION_BYTES_OFFSET 144 /* bytes of those objects */
#define AL_REGION_FAILURES_OFFSET 152 /* failed swaps on such a region's top */
#define AL_LINKS_OFFSET 192 /* head of the list of roots in frames */
#define AL_LOAD_BITS 4 /* bits of `barriers` that send a load to its slow path */
#define AL_LOAD_WEAK_BITS 7 /* bits of `barriers` that send a load weak to its slow path */
#define AL_STORE_BITS 1 /* bits of `barriers` that send a store to its slow path */
#define AL_COMPARE_EXCHANGE_BITS 5 /* bits of `barriers` that send a compare exchange to its slow path */
#define AL_COPY_BITS 5 /* bits of `barriers` that send a copy of slots to its slow path */
#define AL_MARKING_BIT 1 /* bit of `barriers`: a store hands over the old word */
#define AL_WEAK_BIT 2 /* bit of `barriers`: a weak slot may hold a dead reference */
#define AL_FORWARDING_BIT 4 /* bit of `barriers`: objects are on the move */
#define AL_HOOK_BIT 8 /* bit of `barriers`: loads call the hook of generated code */
#define AL_CARD_SHIFT 9 /* a slot's address shifted right by this is its card */
#define AL_DIRTY_CARD 1 /* the byte of a dirty card */
#define AL_REGION_TOP_OFFSET 0 /* from a region: its next free byte */
#define AL_REGION_END_OFFSET 8 /* from a region: the end of its memory */
#define AL_RANGE_BIT 2 /* added to a frame's address on the list of roots */
#define AL_BLOCKED_LINKS 8 /* the head of that list while its thread is blocked */
#define AL_ADDRESS_MASK 0xfffffffffff8u /* the bits of a reference that are its address */
#define AL_IMMEDIATE_BIT 1 /* the bit that immediates have set */
#define AL_WORD_BYTES 8 /* bytes of a word */
#define AL_HEADER_BYTES 8 /* bytes of an object's header */
#define AL_LENGTH_OFFSET 8 /* offset of the length of an object with a tail */
#define AL_MIN_OBJECT_BYTES 16 /* bytes of the smallest object */
#define AL_MAX_LENGTH 0x80000000000u /* the largest length */

#endif /* ALLOTMENT_LAYOUT_H */
