import Crypto
import HTTPTypes
import MobileProtocol
import ODataModel
import ODataQuery
import ODataServer
import ODataService
import ServerState

/// The set `Shared` of the device API: JSON documents of the application, the user and the device.
///
/// | request | effect | status |
/// | --- | --- | --- |
/// | `GET Shared(Scope='user',Key='a')` | Reads a document. | 200, 304, 404 |
/// | `PUT Shared(Scope='user',Key='a')` | Writes it; `If-Match` and `If-None-Match` are conditions. | 201, 204 |
/// | `DELETE Shared(Scope='user',Key='a')` | Removes a document. | 204 |
/// | `GET Shared(Scope='device',Key='a')?merged=true` | Reads a key in all scopes, merged. | 200, 404 |
/// | `GET Shared?merged=true` | Reads an object with the merged documents of all keys. | 200, 304 |
///
/// Members of objects are merged; the document of the device wins over that of the user, and that one over the
/// application's.
struct DeviceSharedStorage: DeviceResource {
    /// The maximum number of bytes of all documents in a merged view.
    static let mergedSize = 8 << 20

    let services: NodeServices

    func answer(
        _ head: HTTPRequest, _ body: ByteStream, for caller: DeviceRequest, at address: DeviceAddresses.Address
    ) async throws -> (HTTPResponse, ByteStream)? {
        guard let name = DeviceResourceName(address.resource.path), name.set == "Shared" else { return nil }
        let isMerged = try DeviceURLOptions(head.path)["merged"] == "true"
        let isRead = head.method == .get || head.method == .head
        guard let key = name.key else {
            guard isMerged, isRead else { return nil }
            return try await mergedAll(head, caller)
        }
        let registration = try registration(of: caller)
        let document = try Self.key(key, registration)
        switch head.method {
        case .get, .head:
            guard isMerged else { return try await read(document, head) }
            return try await merged(document.name, head, for: caller)
        case .put: return try await write(document, head, body: body, at: address)
        case .delete: return try await remove(document, head)
        default:
            throw ODataError(status: 405, code: "MethodNotAllowed", message: "Use GET, PUT or DELETE.")
        }
    }

    private func store() throws(ODataError) -> any SharedDocumentStore {
        do throws(ServerStateError) {
            return try services.state.deviceServices().sharedDocuments
        } catch {
            throw ODataError(error)
        }
    }

    private static func key(
        _ key: [String: String], _ registration: RegistrationRecord
    ) throws(ODataError) -> SharedDocumentKey {
        guard key.count == 2, let name = key["Key"], let text = key["Scope"],
            let scope = SharedDocumentScope(rawValue: text)
        else {
            throw ODataError(
                .invalidProperty, "The key has the parts Scope (application, user or device) and Key.", target: "Scope")
        }
        return SharedDocumentKey(
            application: registration.application, scope: scope, owner: owner(scope, registration), name: name)
    }

    /// Returns the owner in a scope.
    static func owner(_ scope: SharedDocumentScope, _ registration: RegistrationRecord) -> String {
        switch scope {
        case .application: ""
        case .user: String(registration.user)
        case .device: registration.id
        }
    }

    // MARK: One document

    private func read(_ key: SharedDocumentKey, _ head: HTTPRequest) async throws -> (HTTPResponse, ByteStream) {
        let store = try store()
        let found = try await translatingState { () async throws(ServerStateError) in try await store.document(key) }
        guard let found else { throw ODataError.notFound("The document") }
        return try Self.answer(found.body, etag: Self.etag(found.record), head)
    }

    private func write(
        _ key: SharedDocumentKey, _ head: HTTPRequest, body: ByteStream, at address: DeviceAddresses.Address
    ) async throws -> (HTTPResponse, ByteStream) {
        try Self.requireWritable(key)
        guard let type = head.headerFields[.contentType]?.prefix(while: { $0 != ";" }).lowercased(),
            type == "application/json"
        else { throw ODataError(.unsupportedContent, "A document has the type application/json.") }
        let bytes: [UInt8]
        do {
            bytes = try await body.collect(limit: SharedDocumentLimits.size)
        } catch let error as ODataError where error.status == 413 {
            throw ODataError(.tooLarge, "A document has at most \(SharedDocumentLimits.size) bytes.")
        }
        do throws(JSONError) {
            try JSONMerge.check(bytes)
        } catch {
            throw ODataError(.invalidProperty, "The document is no JSON: \(error)")
        }
        let store = try store()
        let condition = try await condition(head, key, in: store)
        let result = try await Self.translating { () async throws(ServerStateError) in
            try await store.put(bytes, key, when: condition)
        }
        var (response, stream) = DeviceAnswer.empty(result.isNew ? .created : .noContent)
        response.headerFields[.eTag] = Self.etag(result.record)
        if result.isNew { response.headerFields[.location] = address.resource.url }
        return (response, stream)
    }

    private func remove(_ key: SharedDocumentKey, _ head: HTTPRequest) async throws -> (HTTPResponse, ByteStream) {
        try Self.requireWritable(key)
        let store = try store()
        let condition = try await condition(head, key, in: store)
        try await Self.translating { () async throws(ServerStateError) in try await store.remove(key, condition) }
        return DeviceAnswer.empty()
    }

    private static func requireWritable(_ key: SharedDocumentKey) throws(ODataError) {
        guard key.scope != .application else {
            throw ODataError(.roleMissing, "Operators change the documents of the application.", target: "Scope")
        }
    }

    /// Returns the condition of a change. A list of tags is compared with the present version.
    private func condition(
        _ head: HTTPRequest, _ key: SharedDocumentKey, in store: any SharedDocumentStore
    ) async throws -> SharedDocumentCondition {
        if let text = head.headerFields[.ifNoneMatch] {
            guard case .any = try Self.tags(text) else {
                throw ODataError(.invalidProperty, "If-None-Match of a change is *.", target: "If-None-Match")
            }
            return .isMissing
        }
        guard let text = head.headerFields[.ifMatch] else { return .none }
        let tags = try Self.tags(text)
        if case .any = tags { return .exists }
        let known = try await translatingState { () async throws(ServerStateError) in try await store.document(key) }
        guard let record = known?.record, tags.contains(EntityTags.EntityTag(String(record.version))) else {
            throw ODataError(.conflict, "The document was changed meanwhile. Read it again.")
        }
        return .version(record.version)
    }

    private static func tags(_ text: String) throws(ODataError) -> EntityTags {
        do throws(QueryError) {
            return try EntityTags(parsing: text)
        } catch {
            throw ODataError(error)
        }
    }

    // MARK: Merged views

    private func merged(
        _ name: String, _ head: HTTPRequest, for caller: DeviceRequest
    ) async throws -> (HTTPResponse, ByteStream) {
        let registration = try registration(of: caller)
        let store = try store()
        var (result, versions): ([UInt8]?, [ChangeNumber]) = (nil, [])
        for scope in SharedDocumentScope.allCases {
            let key = SharedDocumentKey(
                application: registration.application, scope: scope, owner: Self.owner(scope, registration),
                name: name)
            let found = try await translatingState { () async throws(ServerStateError) in
                try await store.document(key)
            }
            guard let found else { continue }
            versions.append(found.record.version)
            result = try Self.merge(result, found.body)
        }
        guard let result else { throw ODataError.notFound("The document") }
        return try Self.answer(result, etag: Self.etag(versions), head)
    }

    private func mergedAll(_ head: HTTPRequest, _ caller: DeviceRequest) async throws -> (HTTPResponse, ByteStream) {
        let registration = try registration(of: caller)
        let store = try store()
        var records: [SharedDocumentRecord] = []
        for scope in SharedDocumentScope.allCases {
            records += try await translatingState { () async throws(ServerStateError) in
                try await store.documents(
                    of: registration.application, scope: scope, owner: Self.owner(scope, registration))
            }
        }
        guard records.reduce(0, { $0 + $1.size }) <= Self.mergedSize else {
            throw ODataError(.tooLarge, "All documents have more than \(Self.mergedSize) bytes. Read them one by one.")
        }
        var (documents, versions): ([String: [UInt8]], [ChangeNumber]) = ([:], [])
        for record in records {
            let found = try await translatingState { () async throws(ServerStateError) in
                try await store.document(record.key)
            }
            // A document that went meanwhile is not in the view.
            guard let found else { continue }
            versions.append(found.record.version)
            documents[record.key.name] = try Self.merge(documents[record.key.name], found.body)
        }
        let members = documents.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        return try Self.answer(JSONMerge.object(members), etag: Self.etag(versions), head)
    }

    private static func merge(_ first: [UInt8]?, _ second: [UInt8]) throws(ODataError) -> [UInt8] {
        guard let first else { return second }
        do throws(JSONError) {
            return try JSONMerge.merge(first, with: second)
        } catch {
            throw ODataError(status: 500, code: "InternalError", message: "A document cannot be read.")
        }
    }

    // MARK: Answers

    private static func etag(_ record: SharedDocumentRecord) -> String { "\"\(record.version)\"" }

    private static func etag(_ versions: [ChangeNumber]) -> String {
        var digest = VersionDigest()
        for version in versions { digest.add(version) }
        return "\"m\(digest.value)\""
    }

    private static func answer(
        _ bytes: [UInt8], etag: String, _ head: HTTPRequest
    ) throws(ODataError) -> (HTTPResponse, ByteStream) {
        let tag = EntityTags.EntityTag(String(etag.dropFirst().dropLast()))
        let isKnown = try head.headerFields[.ifNoneMatch].map { (text) throws(ODataError) in
            try tags(text).contains(tag)
        }
        var (response, stream) = isKnown == true ? DeviceAnswer.empty(.notModified) : DeviceAnswer.json(.ok, bytes)
        response.headerFields[.eTag] = etag
        response.headerFields[.cacheControl] = "no-cache"
        return (response, head.method == .head ? ByteStream([]) : stream)
    }

    private static func translating<Value>(
        _ body: () async throws(ServerStateError) -> Value
    ) async throws(ODataError) -> Value {
        do throws(ServerStateError) {
            return try await body()
        } catch .limitExceeded(let name, let limit) {
            throw ODataError(.policyViolated, "\(name) exceeds the limit of \(limit).")
        } catch .changed {
            throw ODataError(.conflict, "The document was changed meanwhile. Read it again.")
        } catch {
            throw ODataError(error)
        }
    }
}
