;; component: types … libc main instance exports
;; Imports a method that the execution does not have.
  (import "hotcell:guest/host@0.1.0" (instance $host
    (export "execution" (type $execution (sub resource)))
    (export "[method]execution.log" (func (param "self" (borrow $execution)) (param "entry" string)))
    (export "[method]execution.open-file"
      (func (param "self" (borrow $execution)) (param "path" string) (result u32)))
    (export "[method]execution.complete"
      (func (param "self" (borrow $execution)) (param "value" (option string))))))
  (alias export $host "execution" (type $execution))
