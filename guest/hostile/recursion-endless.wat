;; parts: imports memory announce
;; Calls itself for ever.
  (func $deeper (param $depth i32) (result i32)
    (i32.add (call $deeper (i32.add (local.get $depth) (i32.const 1))) (local.get $depth)))
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (drop (call $deeper (i32.const 0)))
    (call $drop (local.get $self)))
