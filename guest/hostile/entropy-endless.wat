;; parts: imports memory announce
;; Asks for the most random bytes it can get, for ever.
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (loop $again
      (global.set $heap (i32.const 65536))
      (call $entropy (local.get $self) (i32.const 65536) (i32.const 61440))
      (br $again)))
