// The operating system, as far as the interpreter and its libc believe in one: two clocks from the host, UTC, and
// standard streams that lead nowhere.
//
// Invariant: nothing here or below imports anything but the methods of `execution`. Each function replaces the member
// of libc.a that would have pulled in a WASI import. Outside of a run every clock reads zero.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "guest.h"

#define NANOSECONDS 1000000000u

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    uint64_t wall = running ? hotcell_guest_host_method_execution_wall_clock(execution) : 0;
    now->tv_sec = (time_t)(wall / NANOSECONDS);
    now->tv_usec = (suseconds_t)(wall % NANOSECONDS / 1000);
    return 0;
}

// The interpreter asks for the monotonic clock only.
int clock_gettime(clockid_t clock, struct timespec *now) {
    (void)clock;
    uint64_t elapsed = running ? hotcell_guest_host_method_execution_monotonic_clock(execution) : 0;
    now->tv_sec = (time_t)(elapsed / NANOSECONDS);
    now->tv_nsec = (long)(elapsed % NANOSECONDS);
    return 0;
}

// The interpreter reads only the offset from UTC, which is zero.
struct tm *localtime_r(const time_t *restrict time, struct tm *restrict local) {
    (void)time;
    memset(local, 0, sizeof *local);
    return local;
}

_Noreturn void abort(void) {
    __builtin_trap();
}

_Noreturn void __assert_fail(const char *expression, const char *file, int line, const char *function) {
    (void)expression, (void)file, (void)line, (void)function;
    abort();
}

int fprintf(FILE *restrict stream, const char *restrict format, ...) {
    (void)stream, (void)format;
    return 0;
}

int fputc(int c, FILE *stream) {
    (void)stream;
    return c;
}

int putchar(int c) {
    return c;
}

int fputs(const char *restrict string, FILE *restrict stream) {
    (void)string, (void)stream;
    return 0;
}

int fflush(FILE *stream) {
    (void)stream;
    return 0;
}

// The backends of libc's standard streams. They are reached only through its tables, so the types must match.
size_t __stdio_write(FILE *stream, const unsigned char *bytes, size_t length) {
    (void)stream, (void)bytes;
    return length;
}

size_t __stdout_write(FILE *stream, const unsigned char *bytes, size_t length) {
    (void)stream, (void)bytes;
    return length;
}

off_t __stdio_seek(FILE *stream, off_t offset, int whence) {
    (void)stream, (void)offset, (void)whence;
    return -1;
}

int __stdio_close(FILE *stream) {
    (void)stream;
    return 0;
}

int __isatty(int descriptor) {
    (void)descriptor;
    return 0;
}
