// What the parts of this guest share: the run that is going on and the way to the host.
//
// Invariant: there is one runtime and one context, made before the snapshot, and one execution, lent by the host from
// the start of `run` to its end.
#ifndef HOTCELL_GUEST_H
#define HOTCELL_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "bindings/guest.h"
#include "quickjs.h"
#include "text.h"

typedef hotcell_guest_host_borrow_execution_t Execution;

// The handle of the run. Valid only while `running`.
extern Execution execution;
// False in the snapshot, while the guest announces itself, and after the run.
extern bool running;

static inline guest_string_t borrowed(const Text *text) {
    return (guest_string_t){(uint8_t *)text->bytes, text->length};
}

// Stops the instance; the host reports `guest-exit`. For broken invariants only.
_Noreturn void abort(void);

#endif
