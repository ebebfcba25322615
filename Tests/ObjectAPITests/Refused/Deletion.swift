// A deletion that the service does not have. Expected: requires that 'SalesOrder' conform to 'Deletable'
import ObjectAPI

func wrong(_ crm: CrmDatabase, _ order: SalesOrder) async throws { try await crm.delete(order) }
