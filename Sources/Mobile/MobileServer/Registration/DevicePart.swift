import Foundation
import HTTPTypes
import Logging
import MobileProtocol
import ODataHTTP
import ODataServer
import ODataService
import ODataTransportNIO
import Secrets
import ServerState

/// The part of a node with the device API and the discovery document.
///
/// ```swift
/// let devices = try DevicePart(services: services, destinations: destinations)
/// let server = ODataServer(configuration: configuration, mounts: devices.mounts(of: .devices))
/// ```
public final class DevicePart: ServerPart {
    private let services: NodeServices
    private let applications: any ActiveApplications
    private let destinations: any DestinationService
    private let shapes: DeviceModel
    private let door: DeviceDoor
    private let provider: DeviceProvider
    private let nonces: ProofNonces
    private let seen: SeenDevices
    private let addresses: DeviceAddresses
    private let handlers = DeviceHandlers()
    private let resources: [any DeviceResource]
    let messages: DeviceMessages
    private let transport: any HTTPTransport
    private let ownTransport: NIOTransport?

    /// The authority of device certificates in PEM, for the file of accepted client authorities.
    public let authorityPEM: String

    /// Creates the part.
    ///
    /// - Parameters:
    ///   - services: The things that all parts share.
    ///   - destinations: The destinations below `d/`.
    ///   - transport: The transport to the issuers of tokens; `nil` for one of its own.
    ///   - captcha: The source of CAPTCHA images.
    /// - Throws: An error if the keys cannot be used.
    public convenience init(
        services: NodeServices, destinations: any DestinationService, transport: (any HTTPTransport)? = nil,
        captcha: any CaptchaIssuer = DotCaptcha()
    ) throws {
        try self.init(
            services: services, applications: services.applications, destinations: destinations, transport: transport,
            captcha: captcha)
    }

    init(
        services: NodeServices, applications: any ActiveApplications, destinations: any DestinationService,
        transport: (any HTTPTransport)?, captcha: any CaptchaIssuer
    ) throws {
        self.services = services
        self.applications = applications
        self.destinations = destinations
        let own = transport == nil ? try NIOTransport() : nil
        ownTransport = own
        guard let wire = transport ?? own else { throw CocoaError(.featureUnsupported) }
        self.transport = wire
        let shapes = try DeviceModel()
        self.shapes = shapes
        let state = services.state
        let authority = try DeviceAuthority(keys: services.keys)
        let signIn = UserSignIn(
            state: state, transport: wire, perMinute: services.configuration.limits.signInPerMinute,
            authorities: CertificateAuthorities(folder: services.dataFolder), deviceAuthority: authority.subject)
        let documents = DeviceDocuments(shapes: shapes, state: state)
        messages = DeviceMessages(services: services, shapes: shapes)
        resources = [
            DeviceUploads(services: services, documents: documents), DeviceSharedStorage(services: services), messages,
        ]
        nonces = ProofNonces(key: services.keys.key(.nonces).symmetricKey)
        seen = SeenDevices(state: state)
        addresses = DeviceAddresses(services.configuration.server)
        authorityPEM = authority.pem
        door = DeviceDoor(
            state: state, signIn: signIn, nonces: nonces, documents: documents,
            rate: DeviceRate(perMinute: services.configuration.limits.devicePerMinute), reads: ProofMemory(),
            clock: services.clock)
        provider = DeviceProvider(
            shapes: shapes, state: state, documents: documents,
            registrations: DeviceRegistrations(
                state: state, keys: services.keys,
                captchas: Captchas(key: services.keys.key(.nonces), issuer: captcha), signIn: signIn,
                limits: RegistrationRate(limit: services.configuration.limits.registrationsPerHour),
                clock: services.clock),
            destinations: destinations, authority: authority, clock: services.clock)
    }

    /// The mounts of the device API, of its relays, and of the discovery document.
    public func mounts(of listener: NodeListener) -> [Mount] {
        guard listener == .devices else { return [] }
        let api = addresses.mounts.map { path in
            Mount(path: path, authentication: .byHandler, timeLimit: .seconds(120)) { head, body, context in
                await self.answer(head, body, in: context)
            }
        }
        let discovery = Mount(
            path: addresses.prefix + discoveryPath.dropFirst(), authentication: .open, maxBodySize: 0
        ) { head, _, context in
            await self.discover(head, context)
        }
        return api + [discovery]
    }

    /// Starts to write the times at which devices are seen.
    public func start() async throws {
        await seen.start()
        messages.announcer.start()
    }

    /// Writes the last times, and closes the transport.
    public func stop() async {
        messages.announcer.stop()
        messages.bells.stop()
        await seen.stop()
        try? await ownTransport?.shutdown()
    }

    /// Checks the security configurations.
    public func check() async -> [CheckFinding] {
        let applications = (try? await applications.all()) ?? []
        return applications.flatMap { application in
            SecurityCheck.findings(of: application, services.configuration, folder: services.dataFolder)
        }
    }

    // MARK: Requests

    func answer(
        _ head: HTTPRequest, _ body: ByteStream, in context: MountContext
    ) async -> (HTTPResponse, ByteStream) {
        var request: DeviceRequest?
        do {
            let address = try addresses.address(of: head, context)
            guard let application = try await application(address.application) else {
                throw ODataError(.applicationUnknown, "There is no application \(address.application).")
            }
            request = DeviceRequest(application: application, head: head, context: context)
            guard application.record.state == .active else {
                throw ODataError(
                    status: 403, code: "ApplicationSuspended", message: "The application is not active at present.")
            }
            var known = try await door.check(
                DeviceRequest(application: application, head: head, context: context), address.resource)
            if let registration = known.registration, known.versions != nil {
                known.versions?.messages = await messages.head(of: registration)
            }
            request = known
            if let registration = known.registration, !known.isConfirmation {
                await seen.note(registration, at: services.clock())
            }
            var (response, stream) = await handle(known, head, body: body, address: address)
            complete(&response, for: request)
            return (response, stream)
        } catch {
            return refuse(error, request)
        }
    }

    private func application(_ name: String) async throws -> ActiveApplication? {
        do throws(ServerStateError) {
            let application = try await applications.application(named: name)
            return application?.record.state == .draft ? nil : application
        } catch {
            throw ODataError(error)
        }
    }

    private func handle(
        _ known: DeviceRequest, _ head: HTTPRequest, body: ByteStream, address: DeviceAddresses.Address
    ) async -> (HTTPResponse, ByteStream) {
        if let (name, root) = address.destination {
            guard let caller = known.caller else {
                return refuse(DeviceRegistrations.unauthorized, known)
            }
            return await destinations.answer(head, body, destination: name, root: root, caller: caller)
        }
        do {
            for resource in resources {
                if let answer = try await resource.answer(head, body, for: known, at: address) { return answer }
            }
            let (head, body) = try await EnrollBody.converted(head, body, resource: address.resource)
            let handler = try handlers.handler(provider, address)
            return await DeviceRequest.$current.withValue(known) {
                await handler.handle(head, body, principal: known.user?.principal)
            }
        } catch {
            return refuse(error, known)
        }
    }

    private func refuse(_ error: any Error, _ request: DeviceRequest?) -> (HTTPResponse, ByteStream) {
        var request = request
        let answer: ODataError
        switch error {
        case let error as ODataError: answer = error
        case let error as DeviceProofError:
            answer = ODataError(status: 401, code: "ProofInvalid", message: error.description)
        case let error as DeviceLockedError:
            request?.versions = error.versions
            answer = error.error
        case is CancellationError:
            answer = ODataError(.busy, "The request was given up.", retryAfter: 1)
        default:
            services.logger.error("The device API failed: \(type(of: error))")
            answer = ODataError(status: 500, code: "InternalError", message: "The server has failed. See its log.")
        }
        var (response, stream) = ResponseEncoder(model: shapes.model).encode(answer)
        complete(&response, for: request)
        if let error = error as? DeviceProofError {
            let name = [.nonce, .time].contains(error) ? "use_dpop_nonce" : "invalid_dpop_proof"
            response.headerFields.append(HTTPField(name: .wwwAuthenticate, value: #"DPoP error="\#(name)""#))
        }
        return (response, stream)
    }

    /// Adds the fields of every answer: a nonce, the versions, and challenges to 401.
    private func complete(_ response: inout HTTPResponse, for request: DeviceRequest?) {
        guard let request else { return }
        let configuration = request.application.configuration
        func set(_ name: String, _ value: String) {
            if let name = HTTPField.Name(name) { response.headerFields[name] = value }
        }
        if configuration.registration.deviceProof != .none {
            set(MobileFieldNames.proofNonce, nonces.make(at: services.clock().rawValue / 1_000_000))
        }
        if let versions = request.versions {
            set(MobileFieldNames.policies, String(versions.policies))
            // A change of settings has already set the new version.
            if HTTPField.Name(MobileFieldNames.settings).map({ response.headerFields[$0] == nil }) ?? false {
                set(MobileFieldNames.settings, String(versions.settings))
            }
        }
        if let number = request.versions?.messages,
            HTTPField.Name(MobileFieldNames.messages).map({ response.headerFields[$0] == nil }) ?? false
        {
            set(MobileFieldNames.messages, String(number))
        }
        if response.headerFields[.cacheControl] == nil { response.headerFields[.cacheControl] = "no-store" }
        guard response.status == .unauthorized else { return }
        let names = request.security.map { [$0] } ?? configuration.security.keys.sorted()
        let challenges = Set(names.compactMap { configuration.security[$0]?.challenge })
        for challenge in challenges.sorted() {
            response.headerFields.append(HTTPField(name: .wwwAuthenticate, value: challenge))
        }
    }

    // MARK: Discovery

    private func discover(_ head: HTTPRequest, _ context: MountContext) async -> (HTTPResponse, ByteStream) {
        guard head.method == .get || head.method == .head else {
            var response = HTTPResponse(status: .methodNotAllowed)
            response.headerFields[.allow] = "GET, HEAD"
            return (response, ByteStream([]))
        }
        do {
            let applications = try await applications.all().filter { $0.record.state == .active }
            let base = addresses.base(of: head, context)
            let bytes = try DiscoveryDocument(applications, base: base).bytes(
                application: DiscoveryDocument.application(in: head.path ?? ""))
            guard let bytes else {
                return refuse(ODataError(.applicationUnknown, "There is no such application."), nil)
            }
            var response = HTTPResponse(status: .ok)
            response.headerFields[.contentType] = "application/json"
            response.headerFields[.cacheControl] = "max-age=300"
            response.headerFields[.contentLength] = String(bytes.count)
            return (response, ByteStream(head.method == .head ? [] : bytes))
        } catch {
            return refuse(error, nil)
        }
    }
}
