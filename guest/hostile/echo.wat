;; parts: imports memory announce
;; Not hostile: calls the first namespace's `echo` with the program as arguments, a thousand times one after the other, and
;; completes with the last answer.
  (data (i32.const 0) "echo")
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (local $left i32)
    (local.set $left (i32.const 1000))
    (loop $again
      (call $submit (local.get $self) (i32.const 0) (i32.const 0) (i32.const 4)
        (local.get $program) (local.get $program-len) (i32.const 61440))
      (if (i32.load8_u (i32.const 61440)) (then unreachable))
      (global.set $heap (i32.const 131072))
      (call $next (local.get $self) (i32.const 0) (i64.const 0) (i32.const 61440))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br_if $again (local.get $left)))
    ;; event: tag at 0, call at 8, outcome tag at 16, text at 20 and 24
    (call $complete (local.get $self) (i32.const 1) (i32.load (i32.const 61460)) (i32.load (i32.const 61464)))
    (call $drop (local.get $self)))
