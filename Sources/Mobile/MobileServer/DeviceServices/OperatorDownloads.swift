import HTTPTypes
import ODataService
import ServerState

/// Streams of the operators' API: the bytes of an upload, of a document of an application, and of a bundle.
///
/// The bytes are those of a stranger: no browser shows or guesses their type.
struct OperatorDownloads: Sendable {
    let services: NodeServices

    /// Answers `GET Uploads('ID')/$value`, `GET SharedDocuments(…)/$value` and `PUT Bundles(…)/$value`.
    ///
    /// - Returns: `nil` for another request.
    func answer(
        _ head: HTTPRequest, _ body: ByteStream, path: String, from sender: OperatorRequest
    ) async throws -> (HTTPResponse, ByteStream)? {
        if head.method == .put, let name = DeviceResourceName(path.removingPercentEncoding ?? path), name.isValue,
            name.set == "Bundles"
        {
            return try await addBundle(name.key ?? [:], body, from: sender)
        }
        guard head.method == .get, let name = DeviceResourceName(path.removingPercentEncoding ?? path), name.isValue
        else { return nil }
        switch name.set {
        case "Uploads":
            try sender.require(OperatorRights.reading(name.set), name.set)
            return try await upload(name.id ?? "", sender)
        case "SharedDocuments":
            try sender.require(OperatorRights.reading(name.set), name.set)
            return try await document(name.key ?? [:], sender)
        default: return nil
        }
    }

    private func addBundle(
        _ key: [String: String], _ body: ByteStream, from sender: OperatorRequest
    ) async throws -> (HTTPResponse, ByteStream) {
        try sender.require(.manager, "Bundles")
        guard let name = key["Application"], let bundle = key["Name"], let version = key["Version"] else {
            throw ODataError(.emptyParameter, "The key has Application, Name and Version.")
        }
        try sender.requireAccess(to: name)
        let application = try await translatingState { () async throws(ServerStateError) in
            try await services.state.applications.application(named: name)
        }
        guard let application else { throw ODataError(.applicationUnknown, "There is no application \(name).") }
        let store = try await translatingState { () async throws(ServerStateError) in
            try services.state.deviceServices().bundles
        }
        let record = try await BundleIntake(store: store).add(
            DeviceBundleKey(application: application.id, name: bundle, version: version), fileExtension: "zip", body)
        try await translatingState { () async throws(ServerStateError) in
            _ = try await services.state.operators.audit(
                AuditNote(
                    actor: sender.actor, action: "bundle.add", target: "\(name)/\(bundle):\(version)",
                    detail: OperatorAudit.json(["sha256": DeviceDocuments.hexadecimal(record.digest)])))
        }
        var response = HTTPResponse(status: .created)
        response.headerFields[.cacheControl] = "no-store"
        return (response, ByteStream([]))
    }

    private func upload(_ id: String, _ sender: OperatorRequest) async throws -> (HTTPResponse, ByteStream) {
        let store = try await translatingState { () async throws(ServerStateError) in
            try services.state.deviceServices().uploads
        }
        let record = try await translatingState { () async throws(ServerStateError) in try await store.upload(id) }
        guard let record else { throw ODataError.notFound("The upload") }
        let applications = try await translatingState { () async throws(ServerStateError) in
            try await services.state.applications.all()
        }
        let application = applications.first { $0.id == record.upload.application }
        try sender.requireAccess(to: application?.name ?? "")
        // Logs and stores hold data of users, so the audit names the reader first.
        try await translatingState { () async throws(ServerStateError) in
            _ = try await services.state.operators.audit(
                AuditNote(
                    actor: sender.actor, action: "upload.read", target: id,
                    detail: OperatorAudit.json(["kind": record.upload.kind.rawValue])))
        }
        let file = "\(record.upload.kind.rawValue)-\(record.id)"
        return (Self.response(file, size: record.receivedSize), UploadBodies.stream(record, store))
    }

    private func document(
        _ key: [String: String], _ sender: OperatorRequest
    ) async throws -> (HTTPResponse, ByteStream) {
        guard let name = key["Application"], let document = key["Key"],
            key["Scope"] == SharedDocumentScope.application.rawValue
        else { throw ODataError(.roleMissing, "Operators read documents of applications only.") }
        try sender.requireAccess(to: name)
        let found = try await translatingState { () async throws(ServerStateError) in
            guard let application = try await services.state.applications.application(named: name) else {
                throw .missing(kind: "application", name: name)
            }
            return try await services.state.deviceServices().sharedDocuments.document(
                SharedDocumentKey(application: application.id, scope: .application, name: document))
        }
        guard let found else { throw ODataError.notFound("The document") }
        return (Self.response("document", size: Int64(found.body.count)), ByteStream(found.body))
    }

    private static func response(_ file: String, size: Int64) -> HTTPResponse {
        var response = HTTPResponse(status: .ok)
        response.headerFields[.contentType] = "application/octet-stream"
        response.headerFields[.contentLength] = String(size)
        response.headerFields[.cacheControl] = "no-store"
        response.set("Content-Disposition", "attachment; filename=\"\(file)\"")
        response.set("X-Content-Type-Options", "nosniff")
        response.set("Content-Security-Policy", "default-src 'none'; sandbox")
        return response
    }
}
