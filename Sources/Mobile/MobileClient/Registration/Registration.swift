public import Secrets
import Foundation
import HTTPTypes
import MobileProtocol
import ODataHTTP
import ODataService
import Synchronization

/// The registration of this app, device and user at a mobile server, and its connection.
///
/// An attempt and a wait are two things: an attempt belongs to the registration, so that neither a cancelled caller nor
/// a wait that times out ends it. A failure before the first byte has left is final; after a later loss of the
/// connection the registration goes on by itself, with growing delays up to five minutes.
///
/// ```swift
/// let registration = session.registration
/// Task { for await event in registration.changes { show("\(event.code)") } }
/// if registration.id == nil { try await registration.register() } else { try await registration.start() }
/// try await registration.waitUntilReady(timeout: .seconds(300))
/// ```
public actor Registration {
    /// The durable part of a registration. It is written before the first request, so that a repeated attempt
    /// registers the same id with the same key.
    struct Kept: Codable, Sendable {
        var id: String
        var key: [UInt8]
        var isRegistered: Bool
    }

    static let record = "registration"

    nonisolated let wire: DeviceWire
    nonisolated let states: RegistrationStates
    nonisolated let settings: AppSettings
    let records: SessionRecords
    let clock: MobileClock
    let device: DeviceDescription
    /// Removes everything that the registration has left on the device, but the stores.
    var forget: (@Sendable () async throws(MobileError) -> Void)?

    /// Whether the app wants a connection, so that a lost one is made again.
    private var wantsConnection = false
    private var attempt: Task<Result<Void, MobileError>, Never>?
    private var loop: Task<Void, Never>?
    private var pause: Task<Void, Never>?
    private var waitsForNotification = false
    private var activation: Secret<String>?
    private var presetID: String?
    private var challenge: CaptchaImage?

    init(
        wire: DeviceWire, records: SessionRecords, settings: AppSettings, clock: MobileClock,
        device: DeviceDescription = DeviceDescription()
    ) {
        self.wire = wire
        self.records = records
        self.settings = settings
        self.clock = clock
        self.device = device
        states = RegistrationStates()
    }

    deinit {
        loop?.cancel()
        pause?.cancel()
    }

    /// Reads the registration that an earlier run has made.
    func load() async throws(MobileError) {
        wire.identity.listen { [weak self] news in
            guard news == .lost else { return }
            Task { [weak self] in await self?.noteLoss() }
        }
        guard let kept: Kept = try await records.value(Self.record), let key = DeviceSigningKey(bytes: kept.key) else {
            return
        }
        wire.identity.set(id: kept.isRegistered ? kept.id : nil, key: key)
        if kept.isRegistered { states.begin(id: kept.id) }
    }

    func onForget(_ body: @escaping @Sendable () async throws(MobileError) -> Void) { forget = body }

    // MARK: State

    /// The id of the registration; `nil` while the device is not registered.
    public nonisolated var id: String? { states.id }
    /// The state of the registration.
    public nonisolated var state: RegistrationPhase { states.registration }
    /// The state of the connection.
    public nonisolated var connection: ConnectionPhase { states.connection }
    /// All changes from now on, in their order.
    public nonisolated var changes: AsyncStream<RegistrationEvent> { states.changes.stream() }
    /// The image that a person has to read before the registration goes on.
    public var captcha: CaptchaImage? { challenge }

    // MARK: Calls

    /// Gives the values for the next registration.
    ///
    /// - Parameters:
    ///   - id: The id; `nil` for a random one. An id consists of letters, digits and `- _ . ~ : @`.
    ///   - activation: The activation code of an invitation.
    public func prepare(id: String? = nil, activation: Secret<String>? = nil) {
        presetID = id
        self.activation = activation
    }

    /// Registers the device, and returns when the attempt has ended.
    ///
    /// Only one attempt runs at a time; further callers wait for the same one. Nothing happens if the device is
    /// registered and connected.
    ///
    /// - Throws: ``MobileError``. After `unreachable` with `isRetried`, the registration goes on by itself; see
    ///   ``waitUntilReady(timeout:)``. `captchaNeeded` asks for ``answer(captcha:)``.
    public func register() async throws(MobileError) { try await run { await $0.registration(captcha: nil) } }

    /// Answers the image, and goes on with the registration.
    ///
    /// - Throws: ``MobileError``: `captchaNeeded` with another image if the text is wrong, `tooManyRequests` after
    ///   three wrong ones, and the errors of ``register()``.
    public func answer(captcha text: String) async throws(MobileError) {
        guard let challenge else { return try await register() }
        guard !text.isEmpty else { throw .emptyParameter("the text of the image") }
        self.challenge = nil
        let solution = (id: challenge.id, text: text)
        try await run { await $0.registration(captcha: solution) }
    }

    /// Connects a registered device, and returns when the attempt has ended.
    ///
    /// - Throws: ``MobileError``: `notRegistered` if the device or the server has no registration.
    public func start() async throws(MobileError) { try await run { await $0.connection() } }

    /// Disconnects, and ends an attempt that runs. A registration that was under way is repeated with the same id.
    public func stop() {
        attempt?.cancel()
        endConnection()
        guard states.connection != .disconnected else { return }
        states.set(.disconnecting)
        states.set(.disconnected)
    }

    /// Removes the registration at the server and then everything on the device that belongs to it: id, device key,
    /// cookies, settings and credentials. Stores stay.
    ///
    /// - Throws: ``MobileError``: `notRegistered`; `unreachable` without a network. The registration then survives, and
    ///   the connection stays stopped.
    public func unregister() async throws(MobileError) {
        guard let kept = try await kept(), kept.isRegistered else { throw .notRegistered }
        stop()
        states.set(.unregistering)
        do throws(MobileError) {
            _ = try await wire.document(.delete, Self.path(kept.id))
        } catch .notRegistered {
            // The server has removed it before.
        } catch {
            states.set(RegistrationPhase.error)
            throw error
        }
        try await forgetRegistration()
    }

    /// Waits until the device is connected and its settings were received. The end of a wait changes nothing else.
    ///
    /// - Parameter timeout: The longest wait.
    /// - Throws: ``MobileError``: `timedOut`, `cancelled`; `notRegistered` after a final failure.
    public nonisolated func waitUntilReady(timeout: Duration) async throws(MobileError) {
        let (stream, clock) = (states.readiness.stream(), clock)
        if states.isReady { return }
        let (ends, continuation) = AsyncStream.makeStream(of: Bool?.self)
        let watch = Task {
            for await isReady in stream { continuation.yield(isReady) }
        }
        let timer = Task {
            try? await clock.sleep(timeout)
            continuation.yield(nil)
        }
        defer {
            watch.cancel()
            timer.cancel()
        }
        for await end in ends {
            guard let end else { throw Task.isCancelled ? .cancelled : .timedOut }
            if end { return }
            throw .notRegistered
        }
        throw .cancelled
    }

    /// Tells the registration that the device has a network again, so that it connects at once.
    public func networkReturned() { pause?.cancel() }

    /// Whether a lost connection is made again only after a notification (106), which suits an app in the background.
    public func waitForNotifications(_ waits: Bool) {
        waitsForNotification = waits
        if !waits, states.connection == .waitingForNotification { continueLater(from: 0) }
    }

    /// Uses other addresses of the same server: another relay, port or prefix. The id stays.
    ///
    /// - Parameter forgettingServerKeys: Whether cookies and the nonce of the server are forgotten.
    /// - Throws: ``MobileError/otherServer(_:)`` for another host or application while the device is registered.
    public func retarget(_ profile: ConnectionProfile, forgettingServerKeys: Bool = false) async throws(MobileError) {
        let old = wire.profile
        guard states.id == nil || old.host == profile.host && old.application == profile.application else {
            throw .otherServer(profile.baseURL)
        }
        try await records.set(profile, SessionRecordNames.profile)
        wire.retarget(profile)
        if forgettingServerKeys {
            wire.cookies.clear()
            wire.identity.forgetNonce()
        }
    }

    /// Tells the server the address of this app at a push service; `nil` removes it.
    ///
    /// - Throws: ``MobileError``.
    public func setPushTarget(_ target: PushTarget?) async throws(MobileError) {
        guard let id = states.id else { throw .notRegistered }
        let body: [String: JSONValue] = [
            "PushKind": .text((target?.kind ?? .none).rawValue),
            "PushTarget": target.map { .text($0.address) } ?? .null,
            "PushEnabled": .flag(target != nil),
        ]
        _ = try await wire.document(.patch, Self.path(id), body: JSONValue.bytes(body), fields: ["If-Match": "*"])
    }

    // MARK: Attempts

    static func path(_ id: String) -> String { "Registrations('\(id)')" }

    /// Runs an attempt, or waits for the one that runs.
    private func run(
        _ body: @escaping @Sendable (isolated Registration) async -> Result<Void, MobileError>
    ) async throws(MobileError) {
        if let attempt { return try await waiting(for: attempt) }
        loop?.cancel()
        loop = nil
        wantsConnection = true
        let task = Task { [self] in
            let result = await body(self)
            attempt = nil
            return result
        }
        attempt = task
        try await waiting(for: task)
    }

    private func kept() async throws(MobileError) -> Kept? { try await records.value(Self.record) }

    /// Returns the id and key to register with, which are durable from here on.
    private func identity() async throws(MobileError) -> Kept {
        if let kept = try await kept(), presetID == nil || presetID == kept.id || kept.isRegistered { return kept }
        let fresh = Kept(
            id: presetID ?? "\(UUID().uuidString.lowercased())-\(wire.profile.application)",
            key: DeviceSigningKey().bytes, isRegistered: false)
        try await records.set(fresh, Self.record)
        return fresh
    }

    private func registration(captcha: (id: String, text: String)?) async -> Result<Void, MobileError> {
        do throws(MobileError) {
            if states.registration == .registered {
                return await connection()
            }
            states.set(.registering)
            let kept: Kept
            do throws(MobileError) {
                kept = try await identity()
                wire.identity.set(id: nil, key: DeviceSigningKey(bytes: kept.key))
                if captcha == nil { try await reachServer() }
            } catch {
                wantsConnection = false
                states.set(RegistrationPhase.error)
                throw error
            }
            states.set(.connecting)
            try await post(kept, captcha)
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    /// Reaches the server for the first time. An attempt that fails before the first byte has left is final.
    private func reachServer() async throws(MobileError) {
        do {
            let answer = try await wire.send(.get, "$metadata")
            guard answer.status == 200 else {
                let error = answer.error
                guard answer.status == 404, MobileErrorName(rawValue: error.code) == nil else {
                    throw MobileError(error, profile: wire.profile)
                }
                throw MobileError.unsupported("registrations of devices")
            }
        } catch {
            guard error.mayHaveLeft else { throw MobileError(error, host: wire.profile.host) }
            // The connection was lost on the way: the registration goes on with its request.
        }
    }

    /// Sends the registration. The state becomes 103 and 203, 101, or 105 and 201.
    private func post(_ kept: Kept, _ captcha: (id: String, text: String)?) async throws(MobileError) {
        var fields: [String: String] = [:]
        if let activation { fields[MobileFieldNames.activation] = activation.reveal() }
        if let captcha { fields[MobileFieldNames.captcha] = "\(captcha.id);\(captcha.text)" }
        var body = device.properties.mapValues { JSONValue.text($0) }
        body["ID"] = .text(kept.id)
        if let name = wire.profile.securityConfiguration { body["SecurityConfiguration"] = .text(name) }
        let answer: DeviceAnswer
        do {
            answer = try await wire.send(.post, "Registrations", body: JSONValue.bytes(body), fields: fields)
        } catch {
            throw lost(MobileError(error, host: wire.profile.host))
        }
        guard answer.status == 200 || answer.status == 201 else {
            let error = MobileError(answer.error, profile: wire.profile)
            if case .captchaNeeded(let image) = error {
                challenge = image
                throw error
            }
            if [502, 503, 504].contains(answer.status) {
                throw lost(.unreachable(host: wire.profile.host, reason: answer.error.message, isRetried: false))
            }
            wantsConnection = false
            states.set(.disconnected)
            states.set(RegistrationPhase.error)
            throw error
        }
        var done = kept
        done.isRegistered = true
        try await records.set(done, Self.record)
        (activation, presetID, challenge) = (nil, nil, nil)
        wire.identity.set(id: done.id, key: DeviceSigningKey(bytes: done.key))
        states.setID(done.id)
        states.set(.connected)
        states.set(.registered)
        try await receiveSettings()
    }

    private func connection() async -> Result<Void, MobileError> {
        do throws(MobileError) {
            guard let kept = try await kept(), kept.isRegistered else { throw .notRegistered }
            if states.connection == .connected, states.isReady { return .success(()) }
            states.set(.connecting)
            do throws(MobileError) {
                try await settings.receive(of: kept.id)
            } catch .unreachable(let host, let reason, _) {
                throw lost(.unreachable(host: host, reason: reason, isRetried: false))
            } catch .notRegistered {
                try await forgetRegistration()
                throw .notRegistered
            } catch .locked(let reason) {
                // A locked device is connected: it reads its order, and nothing else.
                states.set(.connected)
                throw .locked(reason)
            } catch {
                wantsConnection = false
                states.set(.disconnected)
                throw error
            }
            states.set(.connected)
            states.setReady()
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private func receiveSettings() async throws(MobileError) {
        guard let id = states.id else { return }
        do throws(MobileError) {
            try await settings.receive(of: id)
            states.setReady()
        } catch .unreachable(let host, let reason, _) {
            throw lost(.unreachable(host: host, reason: reason, isRetried: false))
        } catch .locked {
            return
        }
    }

    // MARK: Losses

    /// Notes a lost connection and goes on by itself.
    private func lost(_ error: MobileError) -> MobileError {
        guard case .unreachable(let host, let reason, _) = error else {
            wantsConnection = false
            states.set(.disconnected)
            if states.registration == .registering { states.set(RegistrationPhase.error) }
            return error
        }
        states.set(waitsForNotification ? .waitingForNotification : ConnectionPhase.error)
        continueLater(from: 0)
        return .unreachable(host: host, reason: reason, isRetried: true)
    }

    /// Notes that a request of a connected device has failed.
    func noteLoss() {
        guard wire.identity.isLost, states.connection == .connected, attempt == nil, wantsConnection else { return }
        states.set(waitsForNotification ? .waitingForNotification : ConnectionPhase.error)
        continueLater(from: 0)
    }

    private func continueLater(from number: Int) {
        guard loop == nil, wantsConnection, !waitsForNotification else { return }
        loop = Task { [weak self, clock] in
            var number = number
            while !Task.isCancelled {
                guard let pause = await self?.beginPause(clock.delay(before: number)) else { return }
                await pause.value
                guard !Task.isCancelled, let self, await self.repeatAttempt() else { return }
                number += 1
            }
        }
    }

    /// Begins the delay before a repeat, which a returning network ends; `nil` if nobody wants the connection.
    private func beginPause(_ delay: Duration) -> Task<Void, Never>? {
        guard wantsConnection else { return nil }
        let task = Task { [clock] in
            _ = try? await clock.sleep(delay)
        }
        pause = task
        return task
    }

    /// Repeats the attempt; returns whether a further repeat is needed.
    private func repeatAttempt() async -> Bool {
        guard wantsConnection, attempt == nil else { return false }
        // The loop itself repeats, so that a failure must not begin another one.
        let task = Task { [self] in
            let result = states.registration == .registered ? await connection() : await repeatRegistration()
            attempt = nil
            return result
        }
        attempt = task
        if case .failure(.unreachable) = await task.value { return wantsConnection }
        loop = nil
        return false
    }

    private func repeatRegistration() async -> Result<Void, MobileError> {
        do throws(MobileError) {
            let kept = try await identity()
            states.set(.connecting)
            try await post(kept, nil)
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private func endConnection() {
        wantsConnection = false
        loop?.cancel()
        loop = nil
        pause?.cancel()
        pause = nil
    }

    /// Forgets a registration that the server no longer has.
    private func forgetRegistration() async throws(MobileError) {
        endConnection()
        // The id goes first: a device that ends here registers anew, and the server knows nothing of it.
        try await records.remove(Self.record)
        try await records.remove(AppSettings.record)
        wire.identity.set(id: nil, key: nil)
        wire.identity.forgetNonce()
        wire.cookies.clear()
        wire.authentication = .none
        try await forget?()
        await settings.forget()
        if states.connection != .disconnected { states.set(.disconnected) }
        states.setID(nil)
        states.set(.unregistered)
    }
}

extension Error {
    /// Whether a byte of the request may have reached the server.
    fileprivate var mayHaveLeft: Bool {
        guard let error = self as? TransportError else { return false }
        switch error {
        case .timedOut, .connectionLost, .truncated, .tooSlow: return true
        default: return false
        }
    }
}
