// The program of the tutorial "Your first offline app", verbatim. A test compares them and plays the tutorial.

import OutpostKit

/// The customers of a service, with or without a network.
struct AddressBook {
    let store: OfflineStore

    /// Opens the store of an earlier start, or creates it and loads the customers.
    static func open(
        in folder: String, root: String, transport: any HTTPTransport, keys: any SecretStore
    ) async throws -> AddressBook {
        let name = try SecretName("address-book")
        let key = try keys.key(named: name) ?? keys.generateKey(named: name)
        do {
            let store = try await OfflineStore.open(at: folder, protection: .encrypted(.key(key))) { root, model in
                try ODataClient(serviceRoot: root, transport: transport, model: model)
            }
            return AddressBook(store: store)
        } catch OfflineError.noStore {
            let store = try await OfflineStore.create(
                at: folder, protection: .encrypted(.key(key)), serviceRoot: root,
                remote: ODataClient(serviceRoot: root, transport: transport),
                queries: [DefiningQuery("customers", "Customers")])
            try await store.download()
            return AddressBook(store: store)
        }
    }
}

extension AddressBook {
    /// Returns a line for each customer in a country.
    func customers(in country: String) async throws -> [String] {
        let query = ResourceQuery("Customers").filter(.property("Country") == .value(.string(country)))
            .orderBy(.property("CompanyName"))
        return try await DataService(store).entities(query).map {
            "\($0.text("CustomerID"))  \($0.text("CompanyName")), \($0.text("City"))"
        }
    }
}

extension ODataEntity {
    /// The text of a property, or nothing if the property has none.
    func text(_ property: String) -> String {
        if case .string(let text)? = self[property] { text } else { "" }
    }
}

extension AddressBook {
    /// Moves a customer to another city.
    func move(_ id: String, to city: String) async throws -> [String] {
        let service = DataService(store)
        guard var customer = try await service.entity("Customers", key: .string(id)) else {
            return ["There is no customer \(id)."]
        }
        customer["City"] = .string(city)
        try await service.update(customer)
        return try await store.changes.pending().map { "waiting: \($0.kind) \($0.entityText)" }
    }
}

extension AddressBook {
    /// Sends the changes, gets those of others, and returns the outcome of each change.
    func synchronize() async throws -> [String] {
        let report = try await store.sync()
        return report.upload.accepted.map { "accepted: \($0.kind) \($0.entityText)" }
            + report.upload.failed.map { "refused: \($0.kind) \($0.entityText)" }
    }

    /// Returns the conflicts, each with the three versions of the city.
    func conflicts() async throws -> [String] {
        try await store.changes.archived().filter { $0.failure?.isConflict == true }.map { change in
            let (base, mine, theirs) = (change.base, change.changes, change.failure?.theirs)
            return "\(change.entityText): was \(base?.text("City") ?? "unknown"), "
                + "here \(mine.text("City")), at the service \(theirs?.text("City") ?? "deleted")"
        }
    }
}

extension AddressBook {
    /// Ends all conflicts: the version of this store counts, or that of the service.
    func settle(keepingOurs: Bool) async throws -> [String] {
        let conflicts = try await store.changes.archived().filter { $0.failure?.isConflict == true }.map(\.id)
        guard !conflicts.isEmpty else { return ["There is no conflict."] }
        if keepingOurs {
            try await store.changes.retry(conflicts)
        } else {
            try await store.changes.discard(conflicts)
        }
        return ["settled: \(conflicts.count)"]
    }
}

extension AddressBook {
    /// Runs a command, and returns the lines that it prints.
    func run(_ words: [String]) async throws -> [String] {
        switch (words.first, words.count) {
        case ("list", 2): try await customers(in: words[1])
        case ("move", 3): try await move(words[1], to: words[2])
        case ("sync", 1): try await synchronize()
        case ("conflicts", 1): try await conflicts()
        case ("ours", 1): try await settle(keepingOurs: true)
        case ("theirs", 1): try await settle(keepingOurs: false)
        default: ["list COUNTRY, move ID CITY, sync, conflicts, ours, theirs"]
        }
    }
}
