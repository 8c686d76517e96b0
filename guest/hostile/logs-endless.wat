;; parts: imports memory announce
;; Logs the program for ever.
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (loop $again
      (call $log (local.get $self) (local.get $program) (local.get $program-len))
      (br $again)))
