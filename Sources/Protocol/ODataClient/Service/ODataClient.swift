import HTTPTypes
import ODataCache
import ODataHTTP
import ODataModel
import ODataQuery
import ODataService
import Supportability

/// An online OData service of any version from 2.0 to 4.01.
///
/// A client turns requests into HTTP messages, sends them over a transport, and reads responses leniently
/// (OData Protocol 4.01, 13.3 *Interoperable OData Clients*). The metadata is loaded by the first request that
/// needs it; it states the version of the service. The client does not follow next links; a ``DataService``
/// does.
///
/// Redirects are followed within the origin of the service. Credentials are sent only to that origin, and to
/// another machine only over HTTPS. Links that lead to another origin are sent to the service's own origin
/// instead, or refused (`LinkPolicy`).
///
/// Each client has a session: a cookie jar, a queue for five concurrent requests, and retries of repeatable
/// requests. To configure these, pass an ``HTTPSession`` as the transport; several clients can share one.
///
/// ```swift
/// let service = DataService(try await ODataClient("https://services.example/Northwind/", transport: transport))
/// let orders = try await service.entities(ResourceQuery("Orders").filter(.property("Freight") > 500))
/// ```
public final class ODataClient: ODataProvider {
    /// The root URL of the service.
    public let serviceRoot: ServiceRoot
    /// The session with cookies, queue and retries. `nil` if the transport wraps a session without being one.
    public let session: HTTPSession?
    private let transport: any HTTPTransport
    private let configuration: Configuration
    private let allowsPlainHTTP: Bool
    private let metadata: MetadataLoader
    private let csrf: CSRFProtection
    private let repeatability: RepeatabilityIssuer
    private let forms: MessageForms
    private let added: AddedFields

    /// Creates a client. No request is sent yet.
    ///
    /// - Parameters:
    ///   - transport: Sends the requests. A session with standard settings is created around it, unless it is
    ///     an ``HTTPSession`` or wraps one (``HTTPTransport/keepsSession``).
    ///   - authentication: The authentication for the origin of the service. A given session may have its own
    ///     instead.
    ///   - model: The model of the service if it is known, so that the metadata is not loaded.
    /// - Throws: ``TransportError/invalidURL(_:)`` if the service root is not an absolute HTTP URL, or contains
    ///   a user name, a query or a fragment.
    public init(
        serviceRoot: String, transport: any HTTPTransport, authentication: Authentication = .none,
        model: EntityDataModel? = nil, configuration: Configuration = Configuration()
    ) throws(TransportError) {
        let root = try ServiceRoot(serviceRoot)
        guard root.authority != nil else { throw .invalidURL(serviceRoot) }
        self.serviceRoot = root
        if transport.keepsSession {
            // A next link may lead to any origin, but credentials are sent only to the origin of the service.
            guard let origin = root.origin else { throw .invalidURL(serviceRoot) }
            session = transport as? HTTPSession
            self.transport =
                authentication.steps.isEmpty
                ? transport
                : AuthenticatingTransport(
                    transport, authentication: authentication, origins: [origin],
                    allowsPlainHTTP: configuration.allowsPlainHTTP)
        } else {
            let own = try HTTPSession(
                transport, serviceRoot: serviceRoot,
                configuration: .init(
                    authentication: authentication, allowsPlainHTTP: configuration.allowsPlainHTTP))
            session = own
            self.transport = own
        }
        self.configuration = configuration
        allowsPlainHTTP = configuration.allowsPlainHTTP || session?.configuration.allowsPlainHTTP == true
        metadata = MetadataLoader(model)
        csrf = CSRFProtection(policy: configuration.csrf, field: configuration.csrfField)
        forms = MessageForms(configuration)
        added = AddedFields(token: csrf.name)
        repeatability = RepeatabilityIssuer(
            policy: configuration.repeatability, clientID: configuration.repeatabilityClientID)
        try? configuration.diagnostics.storedLog?.updateHeader {
            $0.baseURL = serviceRoot
            $0.user = authentication.user ?? $0.user
            $0.language = configuration.language ?? $0.language
        }
    }

    /// Creates a client and loads the metadata, so that a wrong URL, missing credentials or an incompatible
    /// service is noticed at once.
    ///
    /// - Parameter serviceRoot: The absolute URL of the service.
    /// - Throws: ``TransportError``, ``MetadataError``.
    public convenience init(
        _ serviceRoot: String, transport: any HTTPTransport, authentication: Authentication = .none,
        configuration: Configuration = Configuration()
    ) async throws {
        try self.init(
            serviceRoot: serviceRoot, transport: transport, authentication: authentication,
            configuration: configuration)
        _ = try await model
    }

    // MARK: Metadata

    /// The model of the service. The metadata is loaded on first use.
    ///
    /// - Throws: ``MetadataError``, ``TransportError``.
    public var model: EntityDataModel {
        get async throws { try await metadata.model { try await self.loadMetadata() } }
    }

    /// The traits of a standard service. Restrictions are in ``capabilities``.
    public var traits: ProviderTraits { .standard }

    /// The OData version of the service according to its metadata.
    ///
    /// - Throws: ``MetadataError``, ``TransportError``.
    public var version: ODataVersion { get async throws { try await model.version } }

    /// The capabilities that the service states in its metadata.
    ///
    /// - Throws: ``MetadataError``, ``TransportError``.
    public var capabilities: ServiceCapabilities { get async throws { ServiceCapabilities(try await model) } }

    /// Discards the model, so that the next request loads the metadata again.
    public func forgetMetadata() async { await metadata.forget() }

    /// Loads the metadata and returns its changes.
    ///
    /// - Returns: The differences from the previous model; empty if there was none.
    /// - Throws: ``MetadataError``, ``TransportError``; the previous model is then kept.
    @discardableResult
    public func refreshMetadata() async throws -> [ModelDifference] {
        let fresh = try await loadMetadata()
        guard let former = await metadata.replace(by: fresh) else { return [] }
        return fresh.differences(from: former)
    }

    private func loadMetadata() async throws -> EntityDataModel {
        // The metadata may depend on options of every request, such as the SAP client or the language.
        let root = configuration.completed(serviceRoot.url(for: ""))
        guard let cache = configuration.metadataCache, let known = await cache.metadata(of: root) else {
            return try await readMetadata(root, nil)
        }
        do {
            return try await readMetadata(root, known)
        } catch let error as TransportError {
            // If the service is unreachable, the cached metadata is used.
            guard let model = try? CSDLReader.read(known.bytes) else { throw error }
            return model
        }
    }

    /// Loads the metadata, unless the service confirms that the cached metadata is current.
    private func readMetadata(_ root: String, _ known: CachedMetadata?) async throws -> EntityDataModel {
        let url = serviceRoot.url(for: configuration.metadataURL)
        var message = try documentRequest(url, accept: "application/xml")
        // The two generations of services use different fields for the version.
        message.headerFields[.odataMaxVersion] = ODataVersion.v401.rawValue
        message.headerFields[.maxDataServiceVersion] = ODataVersion.v3.rawValue
        message.headerFields[.ifNoneMatch] = known?.etag
        message.headerFields[.ifModifiedSince] = known?.lastModified
        let recorder = recorder(message)
        defer { recorder?.finish() }
        let (response, stream, id) = try await send(
            message, body: nil, options: TransferOptions(), recorder: recorder, given: [.ifNoneMatch, .ifModifiedSince])
        if response.status == .notModified, let known {
            if let model = try? CSDLReader.read(known.bytes) { return model }
            await configuration.metadataCache?.setMetadata(nil, of: root)
            return try await readMetadata(root, nil)
        }
        let cache = configuration.metadataCache
        let answer = MetadataAnswer(url: url, response: response, body: stream, keepsBytes: cache != nil)
        let before = recorder?.reading()
        let model: EntityDataModel
        do {
            model = try await answer.model()
        } catch let error as MetadataError {
            recorder?.parsed(.metadata, since: before)
            configuration.diagnostics.log(error, message, root: serviceRoot.path, id: id)
            throw error
        }
        recorder?.parsed(.metadata, since: before)
        await cache?.setMetadata(
            CachedMetadata(
                answer.bytes, etag: response.headerFields[.eTag], lastModified: response.headerFields[.lastModified]),
            of: root)
        return model
    }

    /// Loads a document with the settings of this client. The URL may have any origin; credentials, and the
    /// fields and options of every request, are sent only to the origin of the service.
    ///
    /// - Parameter limit: The maximum number of bytes.
    /// - Returns: The response and its bytes; no bytes if the request failed.
    /// - Throws: ``TransportError``; ``ODataError`` with status 413 if the limit is exceeded.
    package func document(at url: String, accept: String, limit: Int) async throws -> (HTTPResponse, [UInt8]) {
        let message = try documentRequest(url, accept: accept)
        let recorder = recorder(message)
        defer { recorder?.finish() }
        let (response, stream, _) = try await send(message, body: nil, options: TransferOptions(), recorder: recorder)
        guard response.status.kind == .successful else { return (response, []) }
        return (response, try await stream.collect(limit: limit))
    }

    private func documentRequest(_ url: String, accept: String) throws -> HTTPRequest {
        var message = try serviceRoot.request(.get, url: url)
        if serviceRoot.isSameOrigin(message) {
            message = try serviceRoot.request(.get, url: configuration.completed(url))
        }
        message.headerFields[.accept] = accept
        correlate(&message)
        return message
    }

    // MARK: Requests

    /// Sends a request and reads the response.
    ///
    /// If the request asks for a format, collections of V4 are returned as a stream of encoded bytes. Otherwise
    /// they are decoded.
    /// - Throws:
    ///   - ``ODataError`` if the service refuses the request.
    ///   - ``CapabilityError`` if the request is not supported according to the metadata.
    ///   - `InvalidValueError` if a sent value does not fit its property (``Configuration/valueChecks``).
    ///   - ``InvalidResponseError`` if the response cannot be read; a change may have taken effect.
    ///   - ``TransportError`` if the connection fails.
    ///   - ``MetadataError`` if the metadata is unavailable.
    public func execute(_ request: ODataRequest) async throws -> ODataResponse {
        try await execute(request, options: TransferOptions())
    }

    /// Sends a request with its own priority, time limit or progress listener, and reads the response; see
    /// ``execute(_:)``.
    public func execute(_ request: ODataRequest, options: TransferOptions) async throws -> ODataResponse {
        // All messages of one request have the same id, including those for a token and for further pages.
        guard Diagnostics.currentCorrelationID == nil, let id = configuration.diagnostics.correlationID?() else {
            return try await observed(request, options)
        }
        return try await Diagnostics.$currentCorrelationID.withValue(id) { try await observed(request, options) }
    }

    private func observed(_ request: ODataRequest, _ options: TransferOptions) async throws -> ODataResponse {
        guard let observer = request.unsentObserver else { return try await carryOut(request, options) }
        let departure = Departure()
        var options = options
        options.departure = departure
        do {
            return try await carryOut(request, options)
        } catch {
            if departure.isCertainlyUnsent { observer() }
            throw error
        }
    }

    private func carryOut(_ request: ODataRequest, _ options: TransferOptions) async throws -> ODataResponse {
        let model = try await model
        var request = request
        if request.link == nil { request.resolve(in: model) }
        try request.validateValues(ValueValidator(model: model, checks: configuration.valueChecks))
        let plan = try CapabilityPlan(request, model: model, policy: configuration.capabilities)
        switch plan {
        case .single(let request, let limit):
            let response = try await perform(request, model, options: options)
            guard let limit else { return response }
            return try await response.limited(to: limit) { link in
                var next = request
                next.link = link
                return try await self.perform(next, model, options: options)
            }
        case .oneByOne(let items, let goesOn):
            return try await BatchSubstitute(items: items, continuesOnError: goesOn).run {
                try await self.perform($0, model, options: options)
            }
        }
    }

    private func perform(
        _ request: ODataRequest, _ model: EntityDataModel, options: TransferOptions
    ) async throws -> ODataResponse {
        var options = options
        var request = try atOwnAddress(request)
        // A request that already has an identification may have been sent before and may have taken effect.
        // Only its sender knows.
        let mayBeRepeat = request.hasIdentification
        request = repeatability.identified(configuration.completed(request), model: model)
        if request.isIdentified, repeatability.isConfirmed { options.isRepeatable = true }
        var hideable = request
        // If the service requires batches, even a read whose response could be streamed is sent in a batch.
        if model.container.requiresBatch { hideable.format = nil }
        if configuration.hidesURLs || model.container.requiresBatch, let hidden = HiddenRead(hideable) {
            return try await hidden.answer(from: exchange(hidden.batch, model, options: options))
        }
        do {
            let response = try await exchange(request, model, options: options)
            guard response.refusesIdentification(of: request) else {
                repeatability.take(response, to: request)
                return response
            }
            guard !mayBeRepeat else {
                repeatability.takeRefusal()
                return response
            }
        } catch let error as ODataError where request.repeatability != nil {
            guard error.refusesIdentification else {
                repeatability.take(error)
                throw error
            }
            guard !mayBeRepeat, let again = request.fromStart() else {
                repeatability.takeRefusal()
                throw error
            }
            request = again
        }
        // The request had no effect, because the service cannot recognize repeats. It is sent again without
        // identification.
        repeatability.takeRefusal()
        request = request.mappingChanges { change, _ in
            var change = change
            change.repeatability = nil
            return change
        }
        options.isRepeatable = nil
        return try await exchange(request, model, options: options)
    }

    /// Returns the request with its link, or the links of its batch, resolved by the ``LinkPolicy``.
    private func atOwnAddress(_ request: ODataRequest) throws(TransportError) -> ODataRequest {
        let policy = LinkPolicy(followedHosts: configuration.followedHosts)
        var request = request
        if let link = request.link { request.link = try policy.address(of: link, in: serviceRoot) }
        if case .batch(var items) = request.body, items.contains(where: { $0.request.link != nil }) {
            for index in items.indices { items[index].request = try atOwnAddress(items[index].request) }
            request.body = .batch(items)
        }
        return request
    }

    /// Sends a request in the known form of the service, or in another one after a refusal of that form.
    private func exchange(
        _ request: ODataRequest, _ model: EntityDataModel, options: TransferOptions
    ) async throws -> ODataResponse {
        let form = forms.current(model)
        do {
            let response = try await exchange(request, model, options: options, form: form)
            forms.note(form, of: request, isLearned: false)
            return response
        } catch let error as ODataError {
            guard !request.mayHaveBeenSent else { throw error }
            for other in forms.others(than: form, after: error, of: request, model) {
                guard let again = request.fromStart() else { break }
                do {
                    if let probe = forms.probe(before: request, in: other, after: error) {
                        _ = try await exchange(probe, model, options: options, form: other)
                    }
                    options.departure?.comeBack()
                    let response = try await exchange(again, model, options: options, form: other)
                    forms.note(other, of: request, isLearned: true)
                    return response
                } catch let refusal as ODataError
                    where request.method == .read || [404, 405, 501].contains(refusal.status)
                {
                    // The service does not accept this form either.
                }
            }
            throw error
        }
    }

    private func exchange(
        _ request: ODataRequest, _ model: EntityDataModel, options: TransferOptions, form: MessageForms.Form
    ) async throws -> ODataResponse {
        let request = configuration.scoped(forms.request(try withoutSecrets(request), in: form), for: model)
        let credentials = request.headers.keys.filter { SecretRedaction.mayNameSecret($0) }
        let encoder = RequestEncoder(
            serviceRoot: serviceRoot, model: model, dialect: configuration.dialect(model, form, method: request.method))
        var (message, body) = try encoder.encode(request)
        correlate(&message)
        let correlationID = message.headerFields[.correlationID]
        try requireSecrecy(message, of: credentials)
        let recorder = recorder(message)
        var id: String?
        do {
            let (response, stream, sentID) = try await send(
                message, body: body, options: options, recorder: recorder,
                secrets: request.headers.keys.filter(Self.maySayWhoAsks),
                given: Set(request.headers.keys.compactMap { HTTPField.Name($0) }), isData: true,
                mayRepeat: !request.mayHaveBeenSent)
            id = sentID
            let decoder = ResponseDecoder(
                serviceRoot: serviceRoot, model: model, maxBodySize: configuration.maxResponseSize,
                strictness: configuration.refusesUnreadableValues ? .lenient : .forgiving)
            let before = recorder?.reading()
            var decoded: ODataResponse
            do {
                decoded = try await decoder.decode(response, body: stream, to: request)
                decoded.correlationID = correlationID
            } catch {
                recorder?.parsed(response.status.code >= 400 ? .error : .response, since: before)
                throw error
            }
            recorder?.parsed(.response, since: before)
            if decoded.body.isStream { recorder?.leaveOpen() } else { recorder?.finish() }
            return decoded
        } catch var error as ODataError {
            recorder?.finish()
            error.requestID = error.requestID ?? id
            error.correlationID = correlationID
            configuration.diagnostics.log(error, message, root: serviceRoot.path, id: error.requestID)
            throw error
        } catch {
            recorder?.finish()
            configuration.diagnostics.log(error, message, root: serviceRoot.path, id: id)
            throw error
        }
    }

    /// Returns the request without fields that may contain credentials, if its link leads to another origin.
    private func withoutSecrets(_ request: ODataRequest) throws(TransportError) -> ODataRequest {
        guard let link = request.link, !request.headers.isEmpty,
            !serviceRoot.isSameOrigin(try serviceRoot.request(.get, url: serviceRoot.url(for: link)))
        else { return request }
        var request = request
        request.headers = request.headers.filter { !Self.maySayWhoAsks($0.key) }
        return request
    }

    /// Refuses to send fields that may contain credentials over an unencrypted connection.
    private func requireSecrecy(_ message: HTTPRequest, of fields: some Collection<String>) throws(TransportError) {
        guard !fields.isEmpty, !allowsPlainHTTP, let origin = Origin(message), origin.isPlain else { return }
        throw .plainHTTP(host: origin.description)
    }

    private static func maySayWhoAsks(_ field: String) -> Bool {
        HTTPField.Name(field).map { !HTTPField.Name.harmless.contains($0) } ?? true
    }

    // MARK: Messages

    /// Sends a message with the fields of the client. If it is refused, sends it again without fields that the
    /// service may not support.
    ///
    /// - Parameters:
    ///   - secrets: The fields that the app has added to the request; their values are left out of logs.
    ///   - given: The fields that the caller has set; they take precedence over those of the client.
    ///   - isData: Whether the request is for data, and not for a document with its own format.
    ///   - mayRepeat: Whether a refusal proves that a change had no effect.
    private func send(
        _ message: HTTPRequest, body: ByteStream?, options: TransferOptions, recorder: ExchangeRecorder?,
        secrets: [String] = [], given: Set<HTTPField.Name> = [], isData: Bool = false, mayRepeat: Bool = true
    ) async throws -> (HTTPResponse, ByteStream, id: String?) {
        var complete = message
        try self.complete(&complete, given: given, isData: isData)
        let own = given.union(configuration.headers.keys.compactMap { HTTPField.Name($0) })
        let id = complete.headerFields[.requestID]
        recorder?.update { $0.requestID = id }
        func attempt(without groups: Set<AddedFields.Group>, _ body: ByteStream?) async throws -> (
            HTTPResponse, ByteStream
        ) {
            try await sendOnce(
                added.message(complete, without: groups, given: own), body, options: options, recorder: recorder,
                id: id, secrets: secrets,
                asksForToken: !groups.contains(.versions))
        }
        let refused = added.refused
        var (response, stream) = try await attempt(without: refused, body)
        guard response.status.code >= 400 else {
            if refused.isEmpty { added.noteAccepted(complete) }
            return (response, stream, id)
        }
        guard body?.isRepeatable ?? true, complete.isReading || mayRepeat else { return (response, stream, id) }
        let attempts = added.attempts(after: response, to: complete, given: own)
        guard !attempts.isEmpty else { return (response, stream, id) }
        // The refusal is read before another request is sent, because it occupies a connection and a place in
        // the queue.
        let (bytes, whole) = try await stream.firstBytes(ErrorBody.maxSize)
        stream = whole
        if !complete.isReading, ErrorBody(bytes).error(for: response).code.isEmpty { return (response, stream, id) }
        for groups in attempts {
            options.departure?.comeBack()
            let (other, rest) = try await attempt(without: groups.union(refused), body?.fromStart())
            guard other.status.code >= 400 else {
                added.noteAccepted(complete, without: groups)
                return (other, rest, id)
            }
            _ = try await rest.firstBytes(ErrorBody.maxSize)
        }
        added.noteFutile(complete)
        return (response, stream, id)
    }

    /// Sends a message, and once more with a new token if it is refused because of a missing token.
    private func sendOnce(
        _ message: HTTPRequest, _ body: ByteStream?, options: TransferOptions, recorder: ExchangeRecorder?,
        id: String?, secrets: [String], asksForToken: Bool
    ) async throws -> (HTTPResponse, ByteStream) {
        let started = ContinuousClock.now
        var message = message
        // A next link may lead to any origin, which must not receive the token.
        let isOwn = serviceRoot.isSameOrigin(message)
        let canRepeat = body?.isRepeatable ?? true
        if isOwn, asksForToken || !message.isReading {
            try await csrf.complete(&message, canRepeat: canRepeat, fetch: fetchHead)
        }
        var (response, stream) = try await transmit(
            message, body, options: options, started: started, recorder: recorder, id: id, secrets: secrets)
        if isOwn {
            await csrf.take(response, to: message)
            if canRepeat, csrf.mayWantToken(response, to: message) {
                // The refusal is read before a token is requested, because it occupies a connection and a place
                // in the queue. Otherwise changes that are refused together would wait for places that they
                // hold themselves.
                let (bytes, whole) = try await stream.firstBytes(AuthenticatingTransport.pageSize)
                stream = whole
                guard csrf.wantsToken(response, saying: bytes) else { return (response, stream) }
                options.departure?.comeBack()
                if let token = try await csrf.renewed(after: message, fetch: fetchHead) {
                    message.headerFields[csrf.name] = token
                    (response, stream) = try await transmit(
                        message, body?.fromStart(), options: options, started: started, recorder: recorder, id: id,
                        secrets: secrets)
                }
            }
        }
        return (response, stream)
    }

    private func transmit(
        _ message: HTTPRequest, _ body: ByteStream?, options: TransferOptions,
        started: ContinuousClock.Instant, recorder: ExchangeRecorder?, id: String?, secrets: [String]
    ) async throws -> (HTTPResponse, ByteStream) {
        let diagnostics = configuration.diagnostics
        let root = serviceRoot.path
        return try await diagnostics.traced(message, root: root) { message in
            // A field that the app adds to each request may contain a key, whatever its name.
            await diagnostics.log(
                message, root: root, body: body, id: id, secrets: configuration.headers.keys + secrets)
            let handed = ContinuousClock.now
            options.departure?.handOver()
            guard let recorder else {
                let (response, stream) = try await transport.send(message, body: body, options: options)
                diagnostics.log(response, to: message, root: root, id: id)
                return (response, diagnostics.logged(stream, of: message, id: id))
            }
            let (response, stream) = try await transport.send(
                message, body: body.map { recorder.sending($0) },
                options: options.reporting { recorder.take($0) })
            recorder.update { $0.status = response.status.code }
            diagnostics.log(response, to: message, root: root, id: id)
            let timed = recorder.receiving(stream, client: started, transport: handed)
            return (response, diagnostics.logged(timed, of: message, id: id))
        }
    }

    /// Adds the fields of this client and its session. Fields that the app sets for every request take
    /// precedence over those of the client, and fields of the single request take precedence over both.
    private func complete(
        _ message: inout HTTPRequest, given: Set<HTTPField.Name> = [], isData: Bool = false
    ) throws(TransportError) {
        message.headerFields[.userAgent] = configuration.userAgent
        // A next link may lead to any origin, which must not receive the app's fields, since they may contain a
        // key.
        if serviceRoot.isSameOrigin(message) {
            try requireSecrecy(message, of: configuration.headers.keys.filter(Self.maySayWhoAsks))
            for (name, value) in configuration.headers {
                guard let name = HTTPField.Name(name) else { continue }
                let isReplaceable = Self.replaceable.contains(name) && (isData || name != .accept)
                guard message.headerFields[name] == nil || isReplaceable && !given.contains(name) else { continue }
                message.headerFields[name] = value
            }
        }
        if let language = configuration.language, message.headerFields[.acceptLanguage] == nil {
            message.headerFields[.acceptLanguage] = language
        }
        if let id = configuration.requestID?(), message.headerFields[.requestID] == nil {
            message.headerFields[.requestID] = id
        }
        correlate(&message)
    }

    /// Adds the correlation id to a message, unless it has one. A field set by the app takes precedence.
    private func correlate(_ message: inout HTTPRequest) {
        guard message.headerFields[.correlationID] == nil else { return }
        let given = configuration.headers.first { HTTPField.Name($0.key) == .correlationID }?.value
        message.headerFields[.correlationID] =
            given ?? Diagnostics.currentCorrelationID ?? configuration.diagnostics.correlationID?()
    }

    /// The fields that the client adds to requests and that an app may replace.
    private static let replaceable: Set<HTTPField.Name> = [
        .accept, .userAgent, .prefer, .odataVersion, .odataMaxVersion, .dataServiceVersion, .maxDataServiceVersion,
    ]

    /// Requests the service document and returns the head of the response.
    private var fetchHead: @Sendable (HTTPFields) async throws -> HTTPResponse {
        { [self] fields in
            // A token belongs to the session and the SAP client, which an option of every request selects.
            var message = try serviceRoot.request(.get, url: configuration.completed(serviceRoot.description))
            message.headerFields[.accept] = "application/json"
            // A cached response contains no token.
            message.headerFields[.cacheControl] = "no-cache"
            message.headerFields.append(contentsOf: fields)
            try complete(&message)
            let (response, stream) = try await transport.send(message, body: nil)
            // A short response is read to its end, so that the connection can be reused.
            _ = try await stream.firstBytes(AuthenticatingTransport.pageSize)
            return response
        }
    }

    private func recorder(_ message: HTTPRequest) -> ExchangeRecorder? {
        guard configuration.diagnostics.needsTimings else { return nil }
        let (diagnostics, root) = (configuration.diagnostics, serviceRoot.path)
        let recorder = ExchangeRecorder(operation: "\(message.method) \(Diagnostics.withoutQuery(message.path))") {
            diagnostics.record($0, as: "\(message.method) \(diagnostics.shownPath(message, root: root))")
        }
        recorder.update { $0.correlationID = message.headerFields[.correlationID] }
        return recorder
    }
}

extension ODataRequest {
    /// Returns the request with its body from the start, or `nil` if the body cannot be read again.
    func fromStart() -> ODataRequest? {
        guard case .media(let stream, let contentType) = body else { return self }
        guard let again = stream.fromStart() else { return nil }
        var request = self
        request.body = .media(again, contentType: contentType)
        return request
    }
}

extension ResponseBody {
    /// Whether the receiver of the response reads the bytes itself.
    var isStream: Bool {
        switch self {
        case .raw, .encoded: true
        default: false
        }
    }
}
