;; parts: imports memory announce
;; Loops for ever.
  (func (export "run") (param $self i32) (param $program i32) (param $program-len i32)
    (param $namespaces i32) (param $namespaces-len i32)
    (loop $again (br $again)))
