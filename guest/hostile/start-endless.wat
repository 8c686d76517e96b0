;; parts: imports memory announce end
;; Its start function never returns.
  (func $at-start (loop $again (br $again)))
  (start $at-start)
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (call $one (local.get $self)))
