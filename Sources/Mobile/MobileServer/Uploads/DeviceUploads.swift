import Foundation
import HTTPTypes
import MobileProtocol
import ODataHTTP
import ODataModel
import ODataServer
import ODataService
import ServerState

/// The set `Uploads` of the device API: resumable uploads of logs, traces, crashes, usage and stores.
///
/// | request | effect | status |
/// | --- | --- | --- |
/// | `POST Uploads?kind=log` | Begins with the body; `Upload-Complete: ?0` says that more follows. | 202, 201 |
/// | `HEAD Uploads('ID')` | Tells `Upload-Offset` and `Upload-Complete`. | 204 |
/// | `PATCH Uploads('ID')` | Appends the body at `Upload-Offset`. | 204, 202 |
/// | `DELETE Uploads('ID')` | Removes the upload. | 204 |
///
/// The server sends no interim response 104. A device that wants to resume begins with an empty body and
/// `Upload-Complete: ?0`. Nothing of an upload is interpreted: note, media type and content are data of a stranger.
struct DeviceUploads: DeviceResource {
    let services: NodeServices
    let documents: DeviceDocuments
    /// The bodies that this node receives at once.
    let permits = AdmissionClass(name: "upload_bodies", limit: UploadBodies.atOnce)

    func answer(
        _ head: HTTPRequest, _ body: ByteStream, for caller: DeviceRequest, at address: DeviceAddresses.Address
    ) async throws -> (HTTPResponse, ByteStream)? {
        guard let name = DeviceResourceName(address.resource.path), name.set == "Uploads", !name.isValue else {
            return nil
        }
        let root = "\(address.publicRoot)Uploads"
        switch (head.method, name.key) {
        case (.post, nil): return try await create(head, body, for: caller, root: root)
        case (.head, _?): return try await status(of: name.id, caller)
        case (.patch, _?): return try await append(head, body, to: name.id, for: caller, root: root)
        case (.delete, _?): return try await remove(name.id, caller)
        default: return nil
        }
    }

    private func store() throws(ODataError) -> any DeviceUploadStore {
        do throws(ServerStateError) {
            return try services.state.deviceServices().uploads
        } catch {
            throw ODataError(error)
        }
    }

    private static func fields(_ head: HTTPRequest) throws(ODataError) -> UploadFields {
        do throws(UploadFieldError) {
            return try UploadFields(head.headerFields)
        } catch {
            throw ODataError(.invalidProperty, error.description, target: error.field)
        }
    }

    // MARK: Creating

    private func create(
        _ head: HTTPRequest, _ body: ByteStream, for caller: DeviceRequest, root: String
    ) async throws -> (HTTPResponse, ByteStream) {
        let registration = try registration(of: caller)
        let fields = try Self.fields(head)
        let options = try DeviceURLOptions(head.path)
        guard let kind = options["kind"].flatMap({ DeviceUploadKind(rawValue: $0) }) else {
            let kinds = DeviceUploadKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw ODataError(.invalidProperty, "The option kind is one of \(kinds).", target: "kind")
        }
        if let note = options["note"], note.utf8.count > DeviceUploadLimits.note {
            throw ODataError(
                .invalidProperty, "The note is longer than \(DeviceUploadLimits.note) bytes.", target: "note")
        }
        let now = services.clock()
        let consent = try Self.consent(options["consent"], now: now)
        let policy = try await policy(kind, caller, of: registration, hasConsent: consent != nil)
        let isComplete = fields.isComplete ?? true
        let size = fields.length ?? (isComplete ? body.length : nil)
        guard max(size ?? 0, body.length ?? 0) <= policy.maxSize else {
            throw ODataError(.tooLarge, "The upload exceeds \(policy.maxSize) bytes.")
        }
        guard let permit = permits.enter() else { throw Self.busy }
        defer { permit.leave() }
        let store = try store()
        let new = NewDeviceUpload(
            id: DeviceDocuments.hexadecimal((0..<16).map { _ in UInt8.random(in: 0...255) }),
            application: registration.application, registration: registration.id, user: registration.user, kind: kind,
            contentType: String((head.headerFields[.contentType] ?? "application/octet-stream").prefix(128)),
            note: options["note"], consentedAt: consent, announcedSize: size, announcedDigest: fields.digest,
            expiresAt: now + UploadPolicy.unfinishedAge)
        let record = try await Self.translating { () async throws(ServerStateError) in try await store.begin(new) }
        CrashPoint.pass("upload-begun")
        do {
            let received = try await UploadBodies(store: store).receive(
                body, record.id, at: 0, limit: size ?? policy.maxSize)
            CrashPoint.pass("upload-received")
            guard isComplete else {
                return Self.created(try await known(record.id, caller, in: store), policy, root: root)
            }
            return try await finish(record.id, size: received, policy: policy, for: caller, in: store, root: root)
        } catch {
            // The device does not know the id of an upload whose first request fails.
            _ = await Task { try? await store.remove(record.id) }.value
            throw error
        }
    }

    private static var busy: ODataError {
        ODataError(.busy, "The server receives many uploads at present.", retryAfter: 5 + Int.random(in: 0...60))
    }

    private static func consent(_ text: String?, now: ServerInstant) throws(ODataError) -> ServerInstant? {
        guard let text else { return nil }
        guard let time = ODataDateTimeOffset(text) else {
            throw ODataError(.invalidProperty, "consent is a time such as 2026-01-31T08:00:00Z.", target: "consent")
        }
        let instant = ServerInstant(time)
        guard time.seconds >= 0, instant <= now + .seconds(86_400) else {
            throw ODataError(.invalidProperty, "The time of the consent is not in the past.", target: "consent")
        }
        return instant
    }

    private func policy(
        _ kind: DeviceUploadKind, _ caller: DeviceRequest, of registration: RegistrationRecord, hasConsent: Bool
    ) async throws -> UploadPolicy {
        let policies = try await documents.policies(of: caller, registration)
        return try UploadPolicy(
            kind, policies.sections, traceLevel: registration.device.traceLevel, hasConsent: hasConsent,
            settings: services.configuration)
    }

    // MARK: Resuming

    private func status(of id: String?, _ caller: DeviceRequest) async throws -> (HTTPResponse, ByteStream) {
        let record = try await known(id, caller, in: try store())
        var (response, stream) = DeviceAnswer.empty()
        Self.describe(record, in: &response)
        return (response, stream)
    }

    private func append(
        _ head: HTTPRequest, _ body: ByteStream, to id: String?, for caller: DeviceRequest, root: String
    ) async throws -> (HTTPResponse, ByteStream) {
        let fields = try Self.fields(head)
        guard let offset = fields.offset, let isComplete = fields.isComplete else {
            throw ODataError(
                .emptyParameter, "The request needs Upload-Offset and Upload-Complete.", target: "Upload-Offset")
        }
        let type = head.headerFields[.contentType]?.prefix { $0 != ";" }.lowercased()
        guard type == nil || type == UploadFields.partialType || type == "application/octet-stream" else {
            throw ODataError(.unsupportedContent, "The body has the type \(UploadFields.partialType).")
        }
        let store = try store()
        let record = try await known(id, caller, in: store)
        let registration = try registration(of: caller)
        // Consent was given when the upload began; the policies may have been changed since.
        let policy = try await policy(record.upload.kind, caller, of: registration, hasConsent: true)
        if record.state == .complete {
            // The response to the last request was lost, and the device asks for nothing new.
            guard isComplete, offset == record.receivedSize, body.length == 0 else { return mismatch(record) }
            return Self.accepted(record, root: root)
        }
        guard offset == record.receivedSize else { return mismatch(record) }
        if let length = fields.length, let announced = record.upload.announcedSize, length != announced {
            throw ODataError(.invalidProperty, "The upload has another length.", target: "Upload-Length")
        }
        let limit = min(policy.maxSize, record.upload.announcedSize ?? fields.length ?? policy.maxSize)
        guard offset + (body.length ?? 0) <= limit else {
            throw ODataError(.tooLarge, "The upload exceeds \(limit) bytes.")
        }
        guard let permit = permits.enter() else { throw Self.busy }
        defer { permit.leave() }
        let received = try await UploadBodies(store: store).receive(body, record.id, at: offset, limit: limit)
        CrashPoint.pass("upload-received")
        guard isComplete else {
            var (response, stream) = DeviceAnswer.empty()
            Self.describe(try await known(id, caller, in: store), in: &response)
            return (response, stream)
        }
        return try await finish(record.id, size: received, policy: policy, for: caller, in: store, root: root)
    }

    private func mismatch(_ record: DeviceUploadRecord) -> (HTTPResponse, ByteStream) {
        let error = ODataError(
            status: 409, code: MobileErrorName.conflict.rawValue,
            message: "The upload has \(record.receivedSize) bytes.", target: "Upload-Offset")
        var (response, stream) = ResponseEncoder(model: documents.shapes.model).encode(error)
        Self.describe(record, in: &response)
        return (response, stream)
    }

    // MARK: Completing

    private func finish(
        _ id: String, size: Int64, policy: UploadPolicy, for caller: DeviceRequest, in store: any DeviceUploadStore,
        root: String
    ) async throws -> (HTTPResponse, ByteStream) {
        let record = try await known(id, caller, in: store)
        if let announced = record.upload.announcedSize, announced != size {
            throw ODataError(
                .invalidProperty, "The upload has \(size) bytes, and \(announced) were announced.",
                target: "Upload-Length")
        }
        let digest = try await UploadBodies(store: store).digest(of: id, size: size)
        if let announced = record.upload.announcedDigest, announced != digest {
            _ = try await Self.translating { () async throws(ServerStateError) in try await store.remove(id) }
            throw ODataError(.policyViolated, "The bytes have another SHA-256.", target: "Repr-Digest")
        }
        let expiry = services.clock() + policy.age
        let finished = try await Self.translating { () async throws(ServerStateError) in
            try await store.finish(id, size: size, digest: digest, expiresAt: expiry)
        }
        CrashPoint.pass("upload-finished")
        return Self.accepted(finished, root: root)
    }

    private static func created(
        _ record: DeviceUploadRecord, _ policy: UploadPolicy, root: String
    ) -> (HTTPResponse, ByteStream) {
        var (response, stream) = DeviceAnswer.json(.created, json(record))
        describe(record, in: &response)
        response.headerFields[.location] = "\(root)('\(record.id)')"
        response.set("Upload-Limit", "max-size=\(policy.maxSize)")
        return (response, stream)
    }

    private static func accepted(_ record: DeviceUploadRecord, root: String) -> (HTTPResponse, ByteStream) {
        var (response, stream) = DeviceAnswer.json(.accepted, json(record))
        describe(record, in: &response)
        response.headerFields[.location] = "\(root)('\(record.id)')"
        return (response, stream)
    }

    private static func describe(_ record: DeviceUploadRecord, in response: inout HTTPResponse) {
        let isComplete = record.state == .complete
        response.set("Upload-Offset", String(record.receivedSize))
        response.set("Upload-Complete", isComplete ? "?1" : "?0")
        response.set("Upload-Incomplete", isComplete ? "?0" : "?1")
        if let size = record.upload.announcedSize { response.set("Upload-Length", String(size)) }
        response.headerFields[.cacheControl] = "no-store"
    }

    private static func json(_ record: DeviceUploadRecord) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("@context")
        writer.string("$metadata#Uploads/$entity")
        for (name, value) in [
            ("ID", record.id), ("Kind", record.upload.kind.rawValue), ("State", record.state.rawValue),
        ] {
            writer.key(name)
            writer.string(value)
        }
        writer.key("ReceivedSize")
        writer.integer(record.receivedSize)
        writer.endObject()
        return writer.bytes
    }

    // MARK: Removing

    private func remove(_ id: String?, _ caller: DeviceRequest) async throws -> (HTTPResponse, ByteStream) {
        let store = try store()
        let record = try await known(id, caller, in: store)
        _ = try await Self.translating { () async throws(ServerStateError) in try await store.remove(record.id) }
        return DeviceAnswer.empty()
    }

    /// Returns an upload of the caller's registration.
    private func known(
        _ id: String?, _ caller: DeviceRequest, in store: any DeviceUploadStore
    ) async throws -> DeviceUploadRecord {
        let registration = try registration(of: caller)
        guard let id else { throw ODataError.notFound("This upload") }
        let record = try await Self.translating { () async throws(ServerStateError) in try await store.upload(id) }
        guard let record, record.upload.registration == registration.id,
            record.upload.application == registration.application
        else { throw ODataError.notFound("The upload") }
        return record
    }

    /// Performs an operation on the state. A limit of the device is 422, a race with another request 409.
    private static func translating<Value>(
        _ body: () async throws(ServerStateError) -> Value
    ) async throws(ODataError) -> Value {
        do throws(ServerStateError) {
            return try await body()
        } catch .limitExceeded(let name, let limit) {
            throw ODataError(.policyViolated, "\(name) exceeds the limit of \(limit).")
        } catch {
            throw ODataError(error)
        }
    }
}
