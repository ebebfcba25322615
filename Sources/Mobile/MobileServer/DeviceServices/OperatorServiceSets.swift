import MobileProtocol
import ODataModel
import ODataService
import ServerState

/// The sets of the device services in the operators' API. They are read from the state and not mirrored.
struct OperatorServiceSets: Sendable {
    /// The names of the sets.
    static let names: Set = ["Uploads", "SharedDocuments", "Bundles", "LogRecords"]
    /// The maximum number of uploads that a query sees, newest first.
    static let maxUploads = 10_000

    let shapes: OperatorModel
    let state: any ServerState

    /// Returns the entities of a set.
    func entities(of set: String) async throws(ServerStateError) -> [ODataEntity] {
        let services = try state.deviceServices()
        let applications = try await state.applications.all()
        switch set {
        case "Uploads":
            var entities: [ODataEntity] = []
            for application in applications {
                var filter = DeviceUploadFilter(application: application.id)
                while entities.count < Self.maxUploads {
                    let page = try await services.uploads.uploads(filter)
                    entities += page.map { upload($0, application: application.name) }
                    guard page.count == filter.limit, let last = page.last else { break }
                    filter.before = last.createdAt
                }
            }
            return entities
        case "SharedDocuments":
            var entities: [ODataEntity] = []
            for application in applications {
                entities += try await services.sharedDocuments.documents(of: application.id).map {
                    document($0, application: application.name)
                }
            }
            return entities
        case "LogRecords":
            var entities: [ODataEntity] = []
            for application in applications {
                entities += try await services.records.logs(of: nil, of: application.id).map {
                    log($0, application: application.name)
                }
            }
            return entities
        case "Bundles":
            var entities: [ODataEntity] = []
            for application in applications {
                entities += try await services.bundles.bundles(of: application.id).map {
                    bundle($0, application: application.name)
                }
            }
            return entities
        default: return []
        }
    }

    private func log(_ record: DeviceLogRecord, application: String) -> ODataEntity {
        shapes.entity(
            "LogRecords",
            [
                "Number": .integer(record.number), "Application": .string(application),
                "Registration": .string(record.registration), "At": .time(record.at), "Level": .string(record.level),
                "Message": .string(record.message), "Component": .text(record.component),
                "EntityKey": .text(record.entityKey), "Operation": .text(record.operation),
                "Code": record.code.map { .integer(Int64($0)) } ?? .null, "BackEndCode": .text(record.backEndCode),
                "RequestID": .text(record.requestID),
            ])
    }

    func bundle(_ record: DeviceBundleRecord, application: String) -> ODataEntity {
        shapes.entity(
            "Bundles",
            [
                "Application": .string(application), "Name": .string(record.key.name),
                "Version": .string(record.key.version), "Extension": .string(record.fileExtension),
                "SHA256": .string(DeviceDocuments.hexadecimal(record.digest)), "Size": .integer(record.size),
                "Stage": .string(record.stage.rawValue), "IsDefault": .boolean(record.isDefault),
                "Manifest": .text(record.manifest), "CreatedAt": .time(record.createdAt),
            ])
    }

    func upload(_ record: DeviceUploadRecord, application: String) -> ODataEntity {
        let upload = record.upload
        return shapes.entity(
            "Uploads",
            [
                "ID": .string(upload.id), "Application": .string(application),
                "Registration": .string(upload.registration), "UserID": .integer(upload.user),
                "Kind": .string(upload.kind.rawValue), "State": .string(record.state.rawValue),
                "ContentType": .string(upload.contentType), "Note": .text(upload.note),
                "ConsentedAt": .time(upload.consentedAt), "ReceivedSize": .integer(record.receivedSize),
                "SHA256": .text(record.digest.map(DeviceDocuments.hexadecimal)), "CreatedAt": .time(record.createdAt),
                "ExpiresAt": .time(upload.expiresAt),
            ])
    }

    func document(_ record: SharedDocumentRecord, application: String) -> ODataEntity {
        shapes.entity(
            "SharedDocuments",
            [
                "Application": .string(application), "Scope": .string(record.key.scope.rawValue),
                "Owner": .string(record.key.owner), "Key": .string(record.key.name),
                "Size": .integer(Int64(record.size)), "UpdatedAt": .time(record.updatedAt),
            ], etag: record.version)
    }
}

/// The changes of the device services by operators.
extension OperatorProvider {
    func changeService(_ set: String, _ change: OperatorChangeRequest) async throws -> ODataResponse {
        switch set {
        case "Uploads": return try await removeUpload(change)
        case "Bundles": return try await changeBundle(change)
        default: return try await changeDocument(change)
        }
    }

    private func removeUpload(_ change: OperatorChangeRequest) async throws -> ODataResponse {
        guard change.request.method == .delete else {
            throw ODataError.methodNotAllowed(change.request.method, allowed: ["GET", "DELETE"])
        }
        let id = try change.text("ID")
        let store = try await translatingState { () async throws(ServerStateError) in
            try state.deviceServices().uploads
        }
        let record = try await translatingState { () async throws(ServerStateError) in try await store.upload(id) }
        guard let record else { throw ODataError.notFound("The upload") }
        let application = try await services.applications.all().first { $0.record.id == record.upload.application }
        if let application { try change.sender.requireAccess(to: application.record.name) }
        _ = try await translatingState { () async throws(ServerStateError) in try await store.remove(id) }
        try await audit(change.sender, "upload.remove", target: id, detail: ["kind": record.upload.kind.rawValue])
        return await removed(ChangeNumberScope.server)
    }

    /// Writes or removes a document of an application. Those of users and devices can be removed only.
    private func changeDocument(_ change: OperatorChangeRequest) async throws -> ODataResponse {
        let application = try await application(named: try change.text("Application"), change.sender)
        guard let scope = SharedDocumentScope(rawValue: try change.text("Scope")) else {
            throw ODataError(.invalidProperty, "Scope is application, user or device.", target: "Scope")
        }
        var owner = change.entity?.text("Owner") ?? ""
        if case .string(let text)? = change.key?["Owner"] { owner = text }
        let key = SharedDocumentKey(
            application: application.id, scope: scope, owner: owner, name: try change.text("Key"))
        let path = "\(application.name)/\(scope.rawValue)/\(owner)/\(key.name)"
        let store = try await translatingState { () async throws(ServerStateError) in
            try state.deviceServices().sharedDocuments
        }
        let condition = try await condition(of: change, key, store)
        guard let entity = change.entity else {
            try await translatingState { () async throws(ServerStateError) in try await store.remove(key, condition) }
            try await audit(change.sender, "document.remove", target: path)
            return await removed(application.name)
        }
        guard scope == .application else {
            throw ODataError(
                .invalidProperty, "Operators write documents of the application only.", target: "Scope")
        }
        guard let text = entity.text("Body") else {
            throw ODataError(.emptyParameter, "Body is missing.", target: "Body")
        }
        let bytes = Array(text.utf8)
        do throws(JSONError) {
            try JSONMerge.check(bytes)
        } catch {
            throw ODataError(.invalidProperty, "Body is no JSON: \(error)", target: "Body")
        }
        let result = try await translatingState { () async throws(ServerStateError) in
            try await store.put(bytes, key, when: condition)
        }
        try await audit(change.sender, "document.set", target: path)
        return await answer(
            OperatorServiceSets(shapes: shapes, state: state).document(result.record, application: application.name),
            "SharedDocuments", created: change.isCreation, request: change.request, scope: application.name)
    }

    private func condition(
        of change: OperatorChangeRequest, _ key: SharedDocumentKey, _ store: any SharedDocumentStore
    ) async throws -> SharedDocumentCondition {
        guard !change.isCreation else { return .isMissing }
        let known = try await translatingState { () async throws(ServerStateError) in try await store.document(key) }
        guard let known else { throw ODataError.notFound("The document") }
        let version = try DeviceProvider.condition(change.request, known.record.version)
        return version.map { SharedDocumentCondition.version($0) } ?? .exists
    }

    // MARK: Bundles

    /// Sets stage and default of a bundle, or removes it. Its bytes come with `PUT …/$value`.
    private func changeBundle(_ change: OperatorChangeRequest) async throws -> ODataResponse {
        guard !change.isCreation else {
            throw ODataError(
                status: 405, code: "MethodNotAllowed", message: "A bundle is added by PUT of its $value.")
        }
        let application = try await application(named: try change.text("Application"), change.sender)
        let key = DeviceBundleKey(
            application: application.id, name: try change.text("Name"), version: try change.text("Version"))
        let path = "\(application.name)/\(key.name):\(key.version)"
        let store = try await translatingState { () async throws(ServerStateError) in
            try state.deviceServices().bundles
        }
        let known = try await translatingState { () async throws(ServerStateError) in try await store.bundle(key) }
        guard let known else { throw ODataError(.bundleUnknown, "There is no bundle \(path).") }
        guard let entity = change.entity else {
            _ = try await translatingState { () async throws(ServerStateError) in try await store.remove(key) }
            try await audit(change.sender, "bundle.remove", target: path)
            return await removed(application.name)
        }
        if let text = entity.text("Stage") {
            guard let stage = DeviceBundleStage(rawValue: text) else {
                throw ODataError(.invalidProperty, "Stage is staged, testers or current.", target: "Stage")
            }
            _ = try await translatingState { () async throws(ServerStateError) in try await store.setStage(stage, key) }
            try await audit(change.sender, "bundle.stage", target: path, detail: ["stage": text])
        }
        if case .boolean(let isDefault)? = entity["IsDefault"], isDefault != known.isDefault {
            try await translatingState { () async throws(ServerStateError) in
                try await store.setDefault(isDefault ? key : nil, of: application.id)
            }
            try await audit(change.sender, "bundle.default", target: path, detail: ["default": "\(isDefault)"])
        }
        let record = try await translatingState { () async throws(ServerStateError) in try await store.bundle(key) }
        guard let record else { throw ODataError(.bundleUnknown, "There is no bundle \(path).") }
        return await answer(
            OperatorServiceSets(shapes: shapes, state: state).bundle(record, application: application.name), "Bundles",
            created: false, request: change.request, scope: application.name)
    }

    // MARK: Messages

    /// Sends a message to a device: `Notification` or `Custom`.
    func sendMessage(
        _ parameters: [String: ODataValue], _ key: EntityKey?, from sender: OperatorRequest
    ) async throws -> ODataResponse {
        let application = try await application(named: try Self.text("Application", key, entity: nil), sender)
        let id = try Self.text("ID", key, entity: nil)
        guard case .string(let name)? = parameters["kind"], let kind = DeviceMessageKind(rawValue: name),
            kind == .notification || kind == .custom
        else { throw ODataError(.invalidProperty, "kind is Notification or Custom.", target: "kind") }
        var body = Array("{}".utf8)
        if case .string(let text)? = parameters["body"] { body = Array(text.utf8) }
        do throws(JSONError) {
            try JSONMerge.check(body)
        } catch {
            throw ODataError(.invalidProperty, "body is no JSON: \(error)", target: "body")
        }
        let message = NewDeviceMessage(kind: kind, body: body)
        try await translatingState { () async throws(ServerStateError) in
            _ = try await state.deviceServices().messages.send(message, to: id, of: application.id)
        }
        try await audit(
            sender, "message.send", target: "\(application.name)/\(id)", detail: ["kind": kind.rawValue])
        return ODataResponse(status: 204)
    }
}
