import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Actions and functions of the service. A function is called at once, and so is an action if its options say so
/// (``ChangeOptions/operationMode``). Other actions wait in the queue.
extension OfflineStore {
    /// An operation that a request calls.
    private struct CalledOperation {
        let request: ODataRequest
        let operation: ODataOperation
        /// The path to the operation.
        let steps: [BoundSegment]
        let options: ChangeOptions

        /// Whether it waits for the next upload; else the service is asked at once.
        var isQueued: Bool { operation.kind == .action && options.operationMode == .queued }
    }

    /// Whether a path may call an operation, judged by its names alone. A function may be followed by further
    /// segments.
    private func mayCall(_ url: ODataURL) -> Bool {
        url.path.segments.enumerated().contains { index, segment in
            guard case .name(let name, _) = segment else { return false }
            if name.text.contains(".") || !serviceModel.operationImports(name.text).isEmpty { return true }
            // The namespace of a bound operation may be left out.
            return index > 0
                && (serviceModel.schemas + serviceModel.includedSchemas).contains { schema in
                    !serviceModel.operations(QualifiedName(schema.namespace, name.text)).isEmpty
                }
        }
    }

    /// The operation that a request calls; `nil` for any other request.
    private func operation(calledBy request: ODataRequest) throws -> CalledOperation? {
        let plain = try request.parsingLink()
        // Binding is more expensive than most reads.
        guard plain.method == .read || plain.method == .create, mayCall(plain.url),
            let bound = try? Binder(model: serviceModel).bind(plain.url),
            let operation = bound.resource.calledOperation
        else { return nil }
        return CalledOperation(
            request: plain, operation: operation, steps: bound.resource.steps, options: ChangeOptions(plain))
    }

    /// Answers the call of an operation; `nil` for any other request.
    func answerCall(_ request: ODataRequest) async throws -> ODataResponse? {
        guard let call = try operation(calledBy: request) else { return nil }
        guard call.isQueued else {
            return try await connection().execute(try await followingAlias(call.request) ?? call.request)
        }
        return try await database.write { [self] in try enqueue(call, in: $0) }
    }

    /// Answers a call within a transaction, in which the service cannot be asked.
    ///
    /// - Throws: `ODataError` 501 `OnlineCallInChangeSet` for a call at once.
    func answerCall(_ request: ODataRequest, in database: Database) throws -> ODataResponse? {
        guard let call = try operation(calledBy: request) else { return nil }
        guard call.isQueued else {
            let name = call.operation.name.description
            throw ODataError(
                status: 501, code: "OnlineCallInChangeSet",
                message: "\(name) is called at the service at once and cannot be part of a change set. "
                    + "Call it outside of the transaction, or queue it if it is an action.", target: name)
        }
        return try enqueue(call, in: database)
    }

    private func enqueue(_ call: CalledOperation, in database: Database) throws -> ODataResponse {
        let plain = call.request
        guard plain.method == .create else { throw ODataError.methodNotAllowed(plain.method, allowed: ["POST"]) }
        var parameters: [String: ODataValue] = [:]
        if case .parameters(let given) = plain.body { parameters = given }
        let way = try rows(onWay: call.steps, in: database)
        let action = QueuedRequest.ActionCall(
            url: plain.url.description,
            parameters: CallParameters.text(parameters, of: call.operation, model: serviceModel), bound: way.bound)
        let temporary = parameters.values.reduce(into: Set()) { $0.formUnion(TemporaryKeys.candidates(in: $1)) }
        var depends: Set<Int64> = []
        for row in way.rows {
            depends.formUnion(try queue.requests(set: row.set, rowID: row.rowID, in: database).map(\.id))
        }
        depends.formUnion(try TemporaryKeys(mapping: mapping).creations(of: temporary, queue, in: database))
        _ = try queue.append(
            .call, set: "", rowID: 0, key: ODataEntity(shape: QueueTable.noShape),
            changes: ODataEntity(shape: QueueTable.noShape),
            etag: try way.bound.flatMap { try etag(of: $0, in: database) },
            dependsOn: depends.sorted(),
            createdAt: environment.instant.description, options: call.options, subject: .call(action),
            in: database)
        return ODataResponse(status: 202)
    }

    /// The rows of the entities on the path to an operation. The call waits for their requests (rule 6).
    ///
    /// - Parameter steps: the path, with the operation at its end.
    /// - Returns: the rows, and the row to which the operation is bound, if the store has it.
    private func rows(
        onWay steps: [BoundSegment], in database: Database
    ) throws -> (rows: [RowReference], bound: RowReference?) {
        let before = BeforeImages(snapshots: queue.snapshots)
        var rows: [RowReference] = []
        var bound: RowReference?
        // The path from the last set on, in which entities are addressed by keys and containment alone.
        var address: [BoundSegment] = []
        for step in steps.dropLast() {
            switch step {
            case .cast: continue
            case .navigation(let navigation, set: let set?, let shape) where !navigation.isContainment:
                address = [.entitySet(set, shape)]
            default: address.append(step)
            }
            bound = nil
            guard Containment.isAddress(address),
                let row = try Containment(mapping: mapping).row(at: address, before, queue, in: database)
            else { continue }
            let found = RowReference(set: row.set, rowID: row.rowID)
            rows.append(found)
            bound = found
        }
        return (rows, bound)
    }

    /// The ETag that the service gave an entity. A created entity has none yet and gets it with the response
    /// (rule 5).
    private func etag(of row: RowReference, in database: Database) throws -> String? {
        guard let table = mapping.tables[row.set] else { return nil }
        let before = BeforeImages(snapshots: queue.snapshots)
        guard try queue.hasRequests(set: row.set, rowID: row.rowID, in: database) else {
            return try BulkLoader(set: row.set, mapping: mapping, in: database).read(row.rowID)?.control.etag
        }
        return try before.image(set: row.set, rowID: row.rowID, shape: table.shape, in: database)?.etag
    }
}

/// The parameters of a queued call, as a JSON object.
enum CallParameters {
    static func text(_ values: [String: ODataValue], of operation: ODataOperation, model: EntityDataModel) -> String {
        var writer = JSONWriter(reservingCapacity: 128)
        writer.beginObject()
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            writer.key(name)
            writer.value(value, type: operation.parameters.first { $0.name == name }?.type, model: model)
        }
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// - Throws: `JSONError` if the queue is damaged.
    static func values(
        _ text: String, of operation: ODataOperation, model: EntityDataModel
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

extension BoundResource {
    /// The operation at the end of a path, or the function before further segments; `nil` for any other path.
    fileprivate var calledOperation: ODataOperation? {
        if case .operation(let operation) = target { return operation }
        for case .operation(let operation, _) in steps where operation.kind == .function { return operation }
        return nil
    }
}
