;; parts: imports memory announce call
;; Calls the member that is named like the program and loops for ever.
  (data (i32.const 0) "null")
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (drop (call $start (local.get $self) (i32.const 0) (local.get $program) (local.get $program-len) (i32.const 0) (i32.const 4)))
    (loop $again (br $again)))
