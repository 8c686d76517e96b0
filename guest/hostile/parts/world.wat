  ;; The host interface, as far as components that are written by hand use it.
  (import "hotcell:guest/host@0.1.0" (instance $host
    (export "execution" (type $execution (sub resource)))
    (export "[method]execution.log" (func (param "self" (borrow $execution)) (param "entry" string)))
    (export "[method]execution.complete"
      (func (param "self" (borrow $execution)) (param "value" (option string))))))
  (alias export $host "execution" (type $execution))
