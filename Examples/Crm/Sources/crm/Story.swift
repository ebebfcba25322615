import ODataModel
import ODataService
import ObjectAPI

/// The life of an object: edited offline, submitted, sent, cancelled.
func tellStory(_ crm: CrmDatabase) async throws {
    try await crm.synchronize([.sales])
    print("\(try await crm.customers.count()) customers in the region")

    guard var smith = try await crm.customers.filter(\.lastName == "Smith").first() else {
        fatalError("Smith is missing")
    }
    show("read", smith)
    smith.city = "Limerick"
    show("set", smith)
    smith = try await crm.save(smith)
    show("saved", smith)
    try await crm.submitPending(smith)
    smith = try await crm.refresh(smith)
    show("submitted", smith)
    let report = try await crm.synchronize()
    print("\(report.accepted) accepted, \(report.failures.count) refused")
    smith = try await crm.refresh(smith)
    show("accepted", smith)

    let draft = Customer(lastName: "Lovelace", region: "West")
    show("new", draft)
    let ada = try await crm.transaction { changes in
        let ada = try changes.create(draft)
        try changes.create(SalesOrder(amount: 3), in: \.salesOrders, of: ada)
        return ada
    }
    show("created with an order", ada)
    try await crm.submitPending(ada)
    print("\(try await crm.synchronize().accepted) accepted")
    show("accepted", try await crm.refresh(ada))

    smith.city = "Sligo"
    smith = try await crm.save(smith)
    show("saved", smith)
    if let former = try await crm.cancelPending(smith) {
        show("cancelled", former)
        let deleted = try await crm.delete(former)
        show("deleted", deleted)
        if let again = try await crm.cancelPending(deleted) { show("cancelled", again) }
    }

    let rename = try await crm.save(Customer.ChangeLastName(of: smith, oldName: "Smith", newName: "Byron"))
    try await crm.submitPending(rename)
    print("\(try await crm.synchronize().accepted) accepted")
    smith = try await crm.refresh(smith)
    show("renamed", smith)

    // Nobody is called Smith any more: the service refuses, and the operation waits for a decision.
    let refused = try await crm.save(Customer.ChangeLastName(of: smith, oldName: "Smith", newName: "Clare"))
    try await crm.submitPending(refused)
    for failure in try await crm.synchronize().failures { print("refused: \(failure.message)") }
    try await crm.cancelPending(refused)
    print(try await crm.hasPendingChanges() ? "changes are left" : "nothing is left")
}

func show(_ step: String, _ customer: Customer) {
    let state = customer.objectState
    let flags = [
        (state.isNew, "new"), (state.isCreated, "created"), (state.isDirty, "dirty"), (state.isDeleted, "deleted"),
        (state.isUpdated, "updated"), (state.isPending, "pending"),
    ].filter(\.0).map(\.1).joined(separator: " ")
    print(
        "\(step): \(customer.lastName), \(customer.city ?? "-") [\(flags)] \(state.pendingChange.rawValue) "
            + "counter \(state.replayCounter) pending \(state.replayPending) failure \(state.replayFailure)")
}
