;; parts: imports memory announce
;; Not hostile: completes with the number 1. The others are read against it.
  (data (i32.const 0) "1")
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (call $complete (local.get $self) (i32.const 1) (i32.const 0) (i32.const 1))
    (call $drop (local.get $self)))
