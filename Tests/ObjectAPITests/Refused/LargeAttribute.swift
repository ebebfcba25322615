// A large attribute in a condition. Expected: cannot convert value of type 'Bool' to closure result type 'QueryExpression'
import ObjectAPI

func wrong(_ crm: CrmDatabase) -> ObjectSet<Customer> { crm.customers.filter { $0.photo == nil } }
