public import DataVault
public import ODataClient
public import ODataHTTP
public import Secrets
import Foundation
import Synchronization

/// An onboarded user of an application: the registration, its settings and policies, and the keys of its stores.
///
/// ``Onboarding`` makes sessions. Several sessions of different users and servers can live in one process.
///
/// ```swift
/// let session = try await onboarding.restore(user: "ann")
/// let key = try await session.key(forStore: "orders")
/// let store = try await OfflineStore.open(at: session.directory(ofStore: "orders"), protection: .encrypted(.key(key)))
/// ```
public actor MobileSession {
    /// The place of sessions on a device, and its connections to the outside.
    ///
    /// ```swift
    /// var configuration = try MobileSession.Configuration(
    ///     directory: folder, vaults: VaultFolder(), transport: transport, applicationVersion: "2.1")
    /// configuration.openStores = { session in try await openStores(of: session) }
    /// ```
    public struct Configuration: Sendable {
        /// The folder of all sessions.
        public var directory: String
        /// The vaults of all sessions.
        public var vaults: VaultFolder
        /// Makes the transport with a policy of trust. It is called once for each session.
        public var makeTransport: @Sendable (ServerTrust) throws -> any HTTPTransport
        /// The sources of time.
        public var clock: MobileClock
        /// The version of the app.
        public var applicationVersion: String
        /// The properties of the device that operators see.
        public var device: DeviceDescription
        /// The longest wait for a registration that goes on by itself.
        public var registrationTimeout: Duration
        /// Opens the stores of a session, as the last step of onboarding and after each unlocking.
        public var openStores: (@Sendable (MobileSession) async throws -> Void)?
        /// Closes the stores of a session that is locked or wiped.
        public var closeStores: (@Sendable (MobileSession) async -> Void)?
        /// Called after each durable write; a test ends the device there.
        var afterWrite: (@Sendable (String) throws -> Void)?

        /// Creates a configuration with transports that ask for trust; see `ServerTrust`.
        public init(
            directory: String, vaults: VaultFolder, applicationVersion: String, clock: MobileClock = .system,
            makeTransport: @escaping @Sendable (ServerTrust) throws -> any HTTPTransport
        ) {
            self.directory = directory
            self.vaults = vaults
            self.clock = clock
            self.applicationVersion = applicationVersion
            self.makeTransport = makeTransport
            device = .current(applicationVersion: applicationVersion)
            registrationTimeout = .seconds(300)
        }

        /// Creates a configuration with a transport that trusts servers by its own policy.
        public init(
            directory: String, vaults: VaultFolder, transport: any HTTPTransport, applicationVersion: String,
            clock: MobileClock = .system
        ) {
            self.init(
                directory: directory, vaults: vaults, applicationVersion: applicationVersion, clock: clock,
                makeTransport: { _ in transport })
        }

        func note(_ write: String) throws(MobileError) {
            do {
                try afterWrite?(write)
            } catch {
                throw .device(reason: "\(error)")
            }
        }
    }

    /// The registration and its connection.
    public nonisolated let registration: Registration
    /// The settings of the registration.
    public nonisolated let settings: AppSettings
    /// The policies of the operator.
    public nonisolated let policies: Policies

    nonisolated let configuration: Configuration
    nonisolated let slot: SessionSlot
    nonisolated let wire: DeviceWire
    nonisolated let records: SessionRecords
    nonisolated let secrets: SessionSecrets
    nonisolated let transport: any HTTPTransport
    private nonisolated let keeper: TrustKeeper
    private nonisolated let broadcast: Broadcast<OnboardingState>

    var progress: OnboardingProgress
    private var contact: OfflineTime?
    private var contactSavedAt = 0.0
    private var isRefreshing = false
    /// Whether an onboarding does the steps of this session, which reads settings and policies itself.
    private var isSettingUp = false
    private var lastForbidden = -Double.infinity
    /// Whether the data are being erased, so that nothing is written any more.
    private var isWiped = false
    private var isErased = false

    init(
        _ configuration: Configuration, _ slot: SessionSlot, records: SessionRecords, progress: OnboardingProgress,
        transport: any HTTPTransport, keeper: TrustKeeper, broadcast: Broadcast<OnboardingState>
    ) {
        self.configuration = configuration
        self.slot = slot
        self.records = records
        self.progress = progress
        self.transport = transport
        self.keeper = keeper
        self.broadcast = broadcast
        let clock = configuration.clock
        wire = DeviceWire(progress.profile, transport: transport, clock: clock)
        secrets = SessionSecrets(records)
        settings = AppSettings(wire: wire, records: records, clock: clock)
        policies = Policies(wire: wire, records: records, clock: clock)
        registration = Registration(
            wire: wire, records: records, settings: settings, clock: clock, device: configuration.device)
    }

    /// Reads the state of an earlier run.
    func load() async throws(MobileError) {
        try await registration.load()
        contact = try await records.value(SessionRecordNames.contact)
        if let lock = progress.lock, lock != .passcode { wire.isStopped = true }
        await registration.onForget { [weak self] () async throws(MobileError) in try await self?.forgetSecrets() }
        wire.identity.listen { [weak self] news in
            Task { [weak self] in await self?.note(news) }
        }
    }

    // MARK: State

    /// The states from now on.
    public nonisolated var states: AsyncStream<OnboardingState> { broadcast.stream() }
    /// The name of the user.
    public var user: String? { progress.user ?? progress.subject }
    /// The reason for which the app is locked; `nil` if it is not.
    public var lockReason: LockReason? {
        get async {
            if let lock = progress.lock { return lock }
            return await secrets.isOpen ? nil : .passcode
        }
    }

    func announce(_ state: OnboardingState) { broadcast.send(state) }

    func setUp(_ isSettingUp: Bool) { self.isSettingUp = isSettingUp }

    func advance(to done: OnboardingProgress.Done) async throws(MobileError) {
        try await change { $0.done = done }
    }

    /// Keeps the certificates that the user has accepted.
    func keepPins() async throws(MobileError) {
        let accepted = keeper.accepted
        try await change { $0.pins.formUnion(accepted) }
    }

    func change(_ body: (inout OnboardingProgress) -> Void) async throws(MobileError) {
        var changed = progress
        body(&changed)
        guard changed != progress else { return }
        try await records.set(changed, SessionRecordNames.progress)
        progress = changed
    }

    // MARK: Stores

    /// Returns the folder of a store of this user. The folder may not exist yet.
    public nonisolated func directory(ofStore name: String) -> String { slot.directory + "/" + name }

    /// Returns the encryption key of a store. It is made at the first use and lies in the vault of the user.
    ///
    /// - Throws: ``MobileError/locked(_:)`` while the app is locked.
    public func key(forStore name: String) async throws(MobileError) -> EncryptionKey {
        guard progress.lock == nil else { throw .locked(progress.lock ?? .passcode) }
        return try await secrets.key(named: name)
    }

    /// Returns a transport to the destinations of the application, with sign-in, device proof and retries.
    ///
    /// - Throws: ``MobileError``.
    public nonisolated func transport(
        _ configuration: HTTPSession.Configuration = .init()
    ) throws(MobileError) -> HTTPSession { try wire.session(configuration) }

    /// Returns the service root of a destination of the application.
    public nonisolated func serviceRoot(ofDestination name: String) -> String {
        wire.profile.deviceAPI + "d/\(name)/"
    }

    // MARK: Foreground and background

    /// Acts on the limit of working offline, and then on the policies of the server, if it can be reached.
    ///
    /// - Throws: ``MobileError``: `locked`, `wiped`.
    public func enterForeground() async throws(MobileError) {
        try await enforceOfflineLimit()
        if registration.id != nil, registration.connection != .connected { try? await registration.start() }
        do throws(MobileError) {
            try await refreshPolicies()
        } catch .unreachable {
            // The last known policies count.
        }
        if let lock = await lockReason { throw .locked(lock) }
    }

    /// Writes cookies and the time of the last contact.
    public func enterBackground() async {
        try? await secrets.set(wire.cookies.cookies)
        try? await saveContact()
    }

    /// Checks the limit of working offline and the policies each hour, until the task is cancelled or the data are
    /// erased.
    ///
    /// Servers announce new policies with each answer. The hourly question serves an app that sends no requests.
    public func watch() async {
        while !isErased {
            do {
                try await configuration.clock.sleep(.seconds(Policies.longestAge))
            } catch {
                return
            }
            try? await enforceOfflineLimit()
            guard !isErased else { return }
            if (try? await policies.age) ?? .infinity >= Policies.longestAge { _ = try? await refreshPolicies() }
        }
    }

    /// Asks the server for policies and features, and applies them: locks, wipes, and sets the rules for the passcode.
    ///
    /// - Returns: The policies.
    /// - Throws: ``MobileError``: `locked` or `wiped` if the policies demand it, and the errors of the exchange.
    @discardableResult
    public func refreshPolicies() async throws(MobileError) -> PolicySnapshot {
        isRefreshing = true
        defer { isRefreshing = false }
        let (snapshot, _) = try await policies.receive()
        try await noteContact()
        try await apply(snapshot)
        return snapshot
    }

    private func apply(_ snapshot: PolicySnapshot) async throws(MobileError) {
        switch snapshot.lock.state {
        case .wipe:
            try await wipe(order: snapshot.lock)
            throw .wiped
        case .lock:
            await applyLock(.order)
            await confirm("locked", snapshot.lock.version)
            throw .locked(.order)
        case .none:
            if let lock = progress.lock, lock == .order || lock == .offlineLimit {
                try await change { $0.lock = nil }
                wire.isStopped = false
                if lock == .order { await confirm("unlocked", snapshot.lock.version) }
                if await !secrets.isOpen { announce(.locked(.passcode)) }
            }
        }
        if await secrets.isOpen, try await secrets.apply(snapshot.demandsPasscode ? snapshot.password : nil) {
            // The passcode is asked at the next use, and checked then.
            await configuration.closeStores?(self)
            announce(.locked(.passcode))
            throw .locked(.passcode)
        }
    }

    private func confirm(_ kind: String, _ version: Int64) async {
        guard let id = registration.id else { return }
        let body = JSONValue.bytes(["kind": .text(kind), "version": .number(version)])
        // A confirmation that is lost is repeated with the next policies.
        _ = try? await wire.send(.post, Registration.path(id) + "/Outpost.Mobile.Confirm", body: body)
    }

    // MARK: Lock

    /// Locks the app: keys leave the memory, stores close, and requests to destinations end.
    public func applyLock(_ reason: LockReason) async {
        if reason == .order || reason == .offlineLimit {
            wire.isStopped = true
            try? await change { $0.lock = reason }
        }
        try? await secrets.set(wire.cookies.cookies)
        await configuration.closeStores?(self)
        await secrets.lock()
        announce(.locked(reason))
    }

    /// Opens the vault with the passcode, and the stores.
    ///
    /// - Parameter passcode: The passcode; `nil` if the policy demands none.
    /// - Throws: ``MobileError``: `wrongPasscode`, `weakPasscode` if the passcode has to be changed, `locked` by an
    ///   order or the offline limit, `wiped` after too many wrong passcodes.
    public func unlock(_ passcode: Secret<String>?) async throws(MobileError) {
        if progress.lock != nil { try await refreshPolicies() }
        if let lock = progress.lock { throw .locked(lock) }
        do throws(MobileError) {
            try await openVault(VaultCredentials(password: passcode?.reveal()))
        } catch .wiped {
            try await wipe(order: nil)
            throw .wiped
        }
        try await finishUnlocking()
    }

    /// Changes the passcode, also one that violates the policy.
    ///
    /// - Throws: ``MobileError``: `wrongPasscode` for the old one, `weakPasscode` for the new one, `wiped`.
    public func changePasscode(from old: Secret<String>?, to new: Secret<String>?) async throws(MobileError) {
        if let lock = progress.lock { throw .locked(lock) }
        do throws(DataVaultError) {
            let vault = try configuration.vaults.open(slot.secretsName)
            try await vault.changePassword(
                from: VaultCredentials(password: old?.reveal()), to: VaultCredentials(password: new?.reveal()))
            await secrets.use(vault)
        } catch .destroyed {
            try await wipe(order: nil)
            throw .wiped
        } catch {
            throw MobileError(error)
        }
        try await finishUnlocking()
    }

    func openVault(_ credentials: VaultCredentials) async throws(MobileError) {
        do throws(DataVaultError) {
            let vault = try configuration.vaults.open(slot.secretsName)
            try await vault.unlock(credentials)
            await secrets.use(vault)
        } catch .noVault where progress.done >= .unlocked {
            throw .wiped
        } catch {
            throw MobileError(error)
        }
    }

    private func finishUnlocking() async throws(MobileError) {
        try await secrets.adopt()
        try await useSignIn()
        announce(.unlocked)
        try await openStores()
    }

    /// Uses the credentials of the vault for requests.
    func useSignIn() async throws(MobileError) {
        wire.load(try await secrets.cookies())
        guard let signIn = try await secrets.signIn() else { return }
        let flow = SignInFlow(transport: transport, interaction: NoScreens(), clock: configuration.clock)
        if let cookies = signIn.cookies, wire.cookies.cookies.isEmpty { wire.load(cookies) }
        wire.authentication = try flow.authentication(signIn, secrets)
    }

    func openStores() async throws(MobileError) {
        if let open = configuration.openStores {
            do {
                try await open(self)
            } catch let error as MobileError {
                throw error
            } catch is CancellationError {
                throw .cancelled
            } catch {
                throw .store(reason: "\(error)")
            }
        }
        try await advance(to: .ready)
        announce(.ready)
    }

    // MARK: Wipe

    /// Erases the data of this user on the device: keys, stores, credentials, cookies and the registration.
    ///
    /// An operator's order is confirmed to the server. Pending changes are lost. An interrupted wipe continues at the
    /// next start before anything else.
    ///
    /// - Throws: ``MobileError/device(reason:)``.
    public func wipe() async throws(MobileError) { try await wipe(order: nil) }

    func wipe(order lock: PolicySnapshot.Lock?) async throws(MobileError) {
        guard !isErased else { return }
        let wiping = Wiping(configuration: configuration)
        let order = WipeOrder(
            slot: slot.name, profile: wire.profile, registration: registration.id, version: lock?.version ?? 0,
            confirmation: lock?.confirmation)
        try wiping.begin(order)
        isWiped = true
        wire.isStopped = true
        await registration.stop()
        await configuration.closeStores?(self)
        await secrets.lock()
        try await wiping.erase(order)
        isErased = true
        wire.cookies.clear()
        wire.authentication = .none
        wire.identity.set(id: nil, key: nil)
        announce(.wiped)
        var erased = order
        erased.isErased = true
        _ = try await wiping.confirm(erased, over: transport)
    }

    private func forgetSecrets() async throws(MobileError) {
        // A locked vault keeps its credentials, which no registration uses any more.
        if await secrets.isOpen { try await secrets.set(nil) } else { try await records.remove(KeptSignIn.record) }
        try await change { $0.done = min($0.done, .trusted) }
        await policies.forget()
    }

    // MARK: News

    private func note(_ news: DeviceIdentity.News) async {
        guard !isWiped, !isRefreshing else { return }
        switch news {
        case .answered, .lost: break
        case .forbidden:
            // A back end can answer so as well: only the policies of the server count (`design-review.md` 10).
            let now = configuration.clock.elapsed()
            guard now - lastForbidden > 10 else { return }
            lastForbidden = now
            await policies.forgetTags()
            _ = try? await refreshPolicies()
        case .versions(let policies, let settings):
            // Only the server itself knows the versions of this registration: an intermediary is no contact.
            try? await noteContact()
            guard progress.done == .ready, !isSettingUp else { return }
            if let policies, await self.policies.isOutdated(policies) { _ = try? await refreshPolicies() }
            if let settings, progress.lock == nil, await self.settings.isOutdated(settings) {
                try? await self.settings.refresh()
            }
        }
    }

    // MARK: Time without contact

    func noteContact() async throws(MobileError) {
        contact = OfflineTime(at: configuration.clock)
        guard configuration.clock.elapsed() - contactSavedAt > 600 else { return }
        try await saveContact()
    }

    private func saveContact() async throws(MobileError) {
        guard let contact else { return }
        contactSavedAt = configuration.clock.elapsed()
        try await records.set(contact, SessionRecordNames.contact)
    }

    /// Locks or wipes if the device was without contact for longer than the policy allows. An app that runs for days
    /// calls it each hour.
    ///
    /// - Throws: ``MobileError``: `locked`, `wiped`.
    public func enforceOfflineLimit() async throws(MobileError) {
        guard var contact else { return }
        let passed = contact.observe(configuration.clock)
        self.contact = contact
        try await saveContact()
        switch OfflineTime.demand(try await policies.current().offlineLimit, after: passed) {
        case .none: return
        case .lock:
            // The device may be online again: then the server decides.
            if (try? await refreshPolicies()) != nil { return }
            await applyLock(.offlineLimit)
            throw .locked(.offlineLimit)
        case .wipe:
            try await wipe(order: nil)
            throw .wiped
        }
    }
}

/// A session asks nothing of the user by itself.
private struct NoScreens: OnboardingInteraction {
    func signIn(_ request: SignInRequest) async throws -> SignInAnswer? { nil }
    func passcode(_ purpose: PasscodePurpose, policy: PasswordPolicy) async -> Secret<String>? { nil }
}
