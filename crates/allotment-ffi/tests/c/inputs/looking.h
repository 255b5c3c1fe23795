/* Looking at a heap, and jumps. Included by inputs.c. */

static void verify_attached(void) {
  attached();
  say(al_verify(heap, &error));
}
static void snapshot_fd(void) {
  begin("MaxHeapSize=16m");
  say(al_snapshot(heap, -1, AL_HEAPSNAPSHOT, &error));
}
static void snapshot_format(void) {
  begin("MaxHeapSize=16m");
  say(al_snapshot(heap, 1, (al_snapshot_format)9, &error));
}
static void profile_closed(void) {
  begin("MaxHeapSize=16m");
  say(al_profile(heap, 987, &error));
}
static jmp_buf back;
static void jumps_over_frames(void) {
  AL_LOCALS(mu, L, one);
  (void)L;
  longjmp(back, 1);
}
static void jump_with_reset(void) {
  attached();
  al_frame_mark mark = al_frames(mu);
  if (!setjmp(back)) jumps_over_frames();
  al_frames_reset(mu, mark);
  al_collect(mu);
  al_detach(mu);
  say(al_heap_free(heap, &error));
}
static void jump_without_reset(void) {
  attached();
  if (!setjmp(back)) jumps_over_frames();
  al_detach(mu);
}
static void jumps_out_of_stop(al_world *world, void *data) {
  (void)world, (void)data;
  longjmp(back, 1);
}
static void jump_out_of_stop(void) {
  attached();
  if (!setjmp(back)) al_stop(heap, jumps_out_of_stop, NULL, &error);
  al_collect(mu);
}
static bool jumps_out_of_limit(void *data, const al_error *why) {
  (void)data, (void)why;
  longjmp(back, 1);
}
static void jump_out_of_heap_limit(void) {
  al_options options = {.size = sizeof options, .defaults = "MaxHeapSize=16m"};
  options.on_heap_limit = jumps_out_of_limit;
  demand(al_heap_new(&options, &heap, &error));
  demand(al_attach(heap, &mu, &error));
  if (!setjmp(back)) al_room(mu, 1 << 30, &error);
  al_poll_slow(mu);
}
static void no_such_code(void) { puts(al_code_text((al_code)999)); }
