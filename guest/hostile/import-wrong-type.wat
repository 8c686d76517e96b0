;; component: types … libc main instance exports
;; Imports a method with other parameters than it has.
  (import "hotcell:guest/host@0.1.0" (instance $host
    (export "execution" (type $execution (sub resource)))
    (export "[method]execution.log"
      (func (param "self" (borrow $execution)) (param "entry" string) (param "level" u32)))
    (export "[method]execution.complete"
      (func (param "self" (borrow $execution)) (param "value" (option string))))))
  (alias export $host "execution" (type $execution))
