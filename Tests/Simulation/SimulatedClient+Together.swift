import ODataModel
import OfflineOData

/// Edits that a client makes in one transaction of its store, which is sent as one change set if the service
/// supports it.
extension SimulatedClient {
    /// An edit that has not been made yet.
    private struct Edit: Sendable {
        enum Kind {
            case create
            case update
            case delete
        }

        let kind: Kind
        let set: String
        /// The URL of the entity, or of the entity set for a creation.
        let url: String
        let mark: String
        let born: String
        var parent: String?
        var base: String?
        var properties: [String: ODataValue] = [:]
        /// The property that receives the key of the entity that the first creation makes.
        var reference: String?

        var text: String { "\(kind) \(url) with others" }
    }

    /// Makes two to four edits in one transaction; sometimes one that the service refuses.
    func changeTogether(_ store: OfflineStore) async throws {
        var edits = try await edits(store)
        guard edits.count > 1 else { return }
        if Int.random(in: 0..<4, using: &numbers) == 0 {
            let tasks = edits.indices.filter { edits[$0].set == "Tasks" && edits[$0].kind != .delete }
            if let index = tasks.randomElement(using: &numbers) { edits[index].properties["Amount"] = .integer(-1) }
        }
        transactions += 1
        let changes = edits.map { edit in
            Ledger.Change(
                mark: edit.mark, client: number, text: edit.text, born: edit.born, parent: edit.parent, base: edit.base,
                values: edit.properties.filter { SimulatedService.isContent($0.key) }.mapValues { text($0) },
                mayBeFolded: folds, transaction: transactions)
        }
        let options = ChangeOptions(prefersNoContent: wantsNoContent())
        let made = edits
        try await make(changes) {
            try await store.changes.transaction(options: options) { try Self.make(made, in: $0) }
        }
        for edit in edits where edit.kind == .create && correlates && Self.correlations[edit.set] != nil {
            ledger.note(edit.mark, of: number) { $0.isFindable = true }
        }
        for (position, edit) in edits.enumerated() where edit.kind != .delete {
            // An entity that is changed twice shows the later mark.
            guard !edits.dropFirst(position + 1).contains(where: { $0.born == edit.born }) else { continue }
            let rows = try await store.entities("\(edit.set)?$filter=Mark eq '\(edit.mark)'")
            if rows.count != 1 {
                violations.append("client \(number) sees \(rows.count) of what it made with others as \(edit.mark)")
            }
        }
    }

    private static func make(_ edits: [Edit], in changes: LocalTransaction) throws {
        var key: ODataValue?
        for edit in edits {
            var properties = edit.properties
            if let reference = edit.reference { properties[reference] = key }
            switch edit.kind {
            case .create:
                let created = try changes.create(edit.set, properties)
                if edit.reference == nil { key = created["Id"] }
            case .update: try changes.update(edit.url, properties)
            case .delete: try changes.delete(edit.url)
            }
        }
    }

    // MARK: Choosing edits

    private func edits(_ store: OfflineStore) async throws -> [Edit] {
        switch Int.random(in: 0..<5, using: &numbers) {
        case 0:
            let id = ODataValue.string("N\(number)-\(marks)")
            let place = creation(in: "Places", ["Id": id, "Name": "New"])
            return [place, task(in: place.mark, ["PlaceId": id])]
        case 1:
            guard let place = try await pick("Places", store) else { return [] }
            let task = task(in: text(place["Born"]), ["PlaceId": place["Id"] ?? .null])
            // The temporary key is known once the entity is created.
            let steps = (0..<Int.random(in: 1...2, using: &numbers)).map { _ in
                var step = creation(in: "Steps", ["Title": "New"])
                step.parent = task.mark
                step.reference = "TaskId"
                return step
            }
            return [task] + steps
        case 2:
            guard let (set, row) = try await anyRow(store) else { return [] }
            let first = update(of: row, in: set)
            var second = update(of: row, in: set)
            second.base = first.mark
            return [first, second]
        case 3:
            var rows: [String: Edit] = [:]
            for _ in 0..<Int.random(in: 2...4, using: &numbers) {
                guard let (set, row) = try await anyRow(store), rows[Self.url(set, row)] == nil else { continue }
                rows[Self.url(set, row)] = update(of: row, in: set)
            }
            return rows.values.sorted { $0.url < $1.url }
        default:
            guard let step = try await pick("Steps", store) else { return [] }
            let deletion = Edit(
                kind: .delete, set: "Steps", url: Self.url("Steps", step),
                mark: Ledger.deletion(of: text(step["Born"])),
                born: text(step["Born"]), base: text(step["Mark"]))
            let tasks = try await store.entities("Tasks?$filter=Id eq \(text(step["TaskId"]))")
            // A step may be kept offline without its task.
            var task = tasks.first
            if task == nil { task = try await pick("Tasks", store) }
            return task.map { [deletion, update(of: $0, in: "Tasks")] } ?? []
        }
    }

    private func anyRow(_ store: OfflineStore) async throws -> (set: String, row: ODataEntity)? {
        let set = ["Places", "Tasks", "Tasks", "Steps"].randomElement(using: &numbers) ?? "Tasks"
        return try await pick(set, store, prefersContested: true).map { (set, $0) }
    }

    private func creation(in set: String, _ properties: [String: ODataValue]) -> Edit {
        let mark = newMark()
        let own: [String: ODataValue] = ["Mark": .string(mark), "Born": .string(mark)]
        return Edit(
            kind: .create, set: set, url: set, mark: mark, born: mark, properties: properties.merging(own) { $1 })
    }

    private func task(in place: String, _ properties: [String: ODataValue]) -> Edit {
        var task = creation(in: "Tasks", properties)
        task.properties["Amount"] = .integer(Int64.random(in: 0..<100, using: &numbers))
        task.parent = place
        return task
    }

    private func update(of row: ODataEntity, in set: String) -> Edit {
        let mark = newMark()
        return Edit(
            kind: .update, set: set, url: Self.url(set, row), mark: mark, born: text(row["Born"]),
            base: text(row["Mark"]), properties: newValues(of: row, in: set, mark))
    }
}
