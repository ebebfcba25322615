import GRDB
import ODataModel
import ODataQuery
import ODataService
import ODataStore

/// Actions and functions of the service. A function is called at once, as is an action where its options say so
/// (``ChangeOptions/operationMode``); else it waits in the queue.
extension OfflineODataProvider {
    /// Whether a path may end in an operation, judged by its last name alone.
    private func mayCall(_ url: ODataURL) -> Bool {
        guard case .name(let name, _)? = url.path.segments.last else { return false }
        return name.text.contains(".") || !serviceModel.operationImports(name.text).isEmpty
    }

    /// Answers the call of an operation; `nil` for any other request.
    func answerCall(_ request: ODataRequest) async throws -> ODataResponse? {
        let plain = try request.parsingLink()
        // Binding costs more than most reads do.
        guard plain.method == .read || plain.method == .create, mayCall(plain.url),
            let bound = try? Binder(model: serviceModel).bind(plain.url),
            case .operation(let operation) = bound.resource.target
        else { return nil }
        let options = try ChangeOptions(plain)
        if operation.kind == .function || options.operationMode == .online {
            var request = try await followingAlias(plain) ?? plain
            request.headers[ChangeOptions.field] = nil
            return try await connection().execute(request)
        }
        guard plain.method == .create else { throw ODataError.methodNotAllowed(plain.method, allowed: ["POST"]) }
        var parameters: [String: ODataValue] = [:]
        if case .parameters(let given) = plain.body { parameters = given }
        let detail = RequestDetail(
            url: plain.url.description, parameters: CallParameters.text(parameters, of: operation, model: serviceModel))
        let temporary = parameters.values.reduce(into: Set()) { $0.formUnion(TemporaryKeys.candidates(in: $1)) }
        let environment = self.options.environment
        try await database.write { [self] database in
            var depends = try requests(onWay: bound.resource.steps, in: database)
            depends.formUnion(
                try TemporaryKeys(mapping: mapping).creations(of: temporary, queue, in: database))
            _ = try queue.append(
                .call, set: "", rowID: 0, key: Entity(shape: QueueTable.noShape),
                changes: Entity(shape: QueueTable.noShape), dependsOn: depends.sorted(),
                createdAt: environment.instant.description, options: options, detail: detail, in: database)
        }
        return ODataResponse(status: 202)
    }

    /// The requests of every entity on the way to what an operation is bound to (rule 6).
    private func requests(onWay steps: [BoundSegment], in database: Database) throws -> Set<Int64> {
        let before = BeforeImages(snapshots: queue.snapshots)
        var found: Set<Int64> = []
        // From the last set on, within which entities are by keys and containment alone.
        var address: [BoundSegment] = []
        for step in steps {
            switch step {
            case .cast: continue
            case .navigation(let navigation, set: let set?, let shape) where !navigation.isContainment:
                address = [.entitySet(set, shape)]
            default: address.append(step)
            }
            guard Containment.isAddress(address),
                let row = try Containment(mapping: mapping).row(at: address, before, queue, in: database)
            else { continue }
            found.formUnion(try queue.requests(set: row.set, rowID: row.rowID, in: database).map(\.id))
        }
        return found
    }
}

/// The parameters of a queued call, as a JSON object.
enum CallParameters {
    static func text(_ values: [String: ODataValue], of operation: Operation, model: EntityDataModel) -> String {
        var writer = JSONWriter(reservingCapacity: 128)
        writer.beginObject()
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            writer.key(name)
            writer.value(value, type: operation.parameters.first { $0.name == name }?.type, model: model)
        }
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// - Throws: `JSONError` when the queue is damaged.
    static func values(
        _ text: String, of operation: Operation, model: EntityDataModel
    ) throws -> [String: ODataValue] {
        try JSONScanner.scan(Array(text.utf8)) { (scanner) throws(JSONError) -> [String: ODataValue] in
            var values: [String: ODataValue] = [:]
            try scanner.beginObject()
            while let key = try scanner.nextKey() {
                let name = key.string
                let type = operation.parameters.first { $0.name == name }?.type ?? .complex(nil)
                values[name] = try scanner.takeNull() ? .null : ODataValue(json: &scanner, type: type, model: model)
            }
            return values
        }
    }
}
