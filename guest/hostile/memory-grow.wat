;; parts: imports memory announce end
;; Grows its memory a page at a time until that is refused, and then 1 completes with the number of pages it has, 2 traps,
;; 3 fails as a program whose language has a memory error.
  (data (i32.const 0) "out of memory")
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (local $what i32)
    (local.set $what (i32.load8_u (local.get $program)))
    (loop $again (br_if $again (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
    (if (i32.eq (local.get $what) (i32.const 50)) (then unreachable))
    (if (i32.eq (local.get $what) (i32.const 51))
      (then
        (call $fail (local.get $self) (i32.const 0) (i32.const 0) (i32.const 13))
        (call $drop (local.get $self))
        (return)))
    (call $number (local.get $self) (i64.extend_i32_u (memory.size))))
