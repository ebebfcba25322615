// Expected: cannot convert value of type 'Bool' to closure result type 'QueryExpression'
// A large attribute is used in a condition.
import ObjectAPI

func wrong(_ crm: CrmDatabase) -> ObjectSet<Customer> { crm.customers.filter { $0.photo == nil } }
