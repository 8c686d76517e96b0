;; parts: imports memory announce
;; Completes with a value that is 100,000 arrays deep.
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (local $text i32)
    (local.set $text (call $cabi_realloc (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 200000)))
    (memory.fill (local.get $text) (i32.const 91) (i32.const 100000))
    (memory.fill (i32.add (local.get $text) (i32.const 100000)) (i32.const 93) (i32.const 100000))
    (call $complete (local.get $self) (i32.const 1) (local.get $text) (i32.const 200000))
    (call $drop (local.get $self)))
