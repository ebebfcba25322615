// A large attribute in a condition. Expected: error:
import ObjectAPI

func wrong(_ crm: CrmDatabase) -> ObjectSet<Customer> { crm.customers.filter { $0.photo == nil } }
