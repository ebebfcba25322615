// A submission within a transaction. Expected: has no member 'submitPending'
import ObjectAPI

func wrong(_ crm: CrmDatabase, _ customer: Customer) async throws {
    try await crm.transaction { changes in try changes.submitPending(customer) }
}
