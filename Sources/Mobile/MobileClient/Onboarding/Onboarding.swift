import DataVault
import Foundation
import ODataHTTP
import Secrets

/// Brings an app from its first start to working stores, for one or several users.
///
/// Each step is durable before its effect is visible: an app that ends at any point goes on with ``restore(user:)`` or
/// another ``onboard(from:user:)``, and never registers a second time.
///
/// ```swift
/// let onboarding = Onboarding(configuration, interaction: Screens())
/// Task { for await state in onboarding.states { show("\(state)") } }
/// let session: MobileSession
/// if try await onboarding.users().isEmpty {
///     session = try await onboarding.onboard(from: .url("https://mobile.example", application: "shop"))
/// } else {
///     session = try await onboarding.restore(user: nil)
/// }
/// ```
public actor Onboarding {
    /// The number of sign-ins or passcodes that are asked in one call.
    static let maxRounds = 5

    let configuration: MobileSession.Configuration
    let interaction: any OnboardingInteraction
    nonisolated let broadcast = Broadcast<OnboardingState>()
    /// The session of an onboarding that is not complete.
    private var current: MobileSession?
    private var isRunning = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    /// Creates an onboarding. Nothing is read or sent yet.
    ///
    /// - Parameters:
    ///   - configuration: The place of the sessions.
    ///   - interaction: Answers the questions to the user.
    public init(_ configuration: MobileSession.Configuration, interaction: any OnboardingInteraction) {
        self.configuration = configuration
        self.interaction = interaction
    }

    /// The states from now on, of onboarding and of the sessions that it makes.
    public nonisolated var states: AsyncStream<OnboardingState> { broadcast.stream() }

    // MARK: Calls

    /// Sets up a user on this device, or goes on where an earlier call has ended.
    ///
    /// - Parameters:
    ///   - source: The address of the application.
    ///   - user: The name of the user, if it is known.
    /// - Returns: A session with open stores.
    /// - Throws: ``MobileError``: `alreadyOnboarded` if the user was set up before, `captchaNeeded` if the image is
    ///   left for later, `timedOut` if the registration goes on by itself, and the errors of each step.
    public func onboard(
        from source: ConfigurationSource, user: String? = nil
    ) async throws(MobileError) -> MobileSession {
        try await exclusively { () async throws(MobileError) in try await self.begin(source, user) }
    }

    private func begin(_ source: ConfigurationSource, _ user: String?) async throws(MobileError) -> MobileSession {
        try await continueWipes()
        broadcast.send(.start)
        let given = try await step(.discover) { () async throws(MobileError) in
            try source.values().profile()
        }
        let name = user ?? given.user
        if let slot = try await slot(where: { Self.isSame($0, given.profile, user: name) }) {
            guard slot.progress.done < .ready else { throw .alreadyOnboarded(name) }
            let session = try await session(slot)
            return try await run(session, activation: given.activation)
        }
        let slot = SessionSlot(new: configuration)
        let keeper = TrustKeeper(interaction)
        let transport = try makeTransport(keeper)
        let progress = try await step(.discover) { () async throws(MobileError) in
            try await self.discover(given.profile, user: name, over: transport)
        }
        let records = try await slot.records()
        let session = MobileSession(
            configuration, slot, records: records, progress: progress, transport: transport, keeper: keeper,
            broadcast: broadcast)
        // The first durable write: from here on, the app goes on with this session.
        try await records.set(progress, SessionRecordNames.progress)
        try await session.load()
        broadcast.send(.discovered(progress.profile))
        try await session.change {
            $0.pins = keeper.accepted
            $0.done = .trusted
        }
        broadcast.send(.trusted)
        return try await run(session, activation: given.activation)
    }

    /// Goes on with a user of this device: unlocks the vault, connects, reads policies and opens the stores. Without a
    /// network, the last known policies count.
    ///
    /// - Parameter user: The name of the user; `nil` for the only one.
    /// - Returns: A session with open stores.
    /// - Throws: ``MobileError``: `unknownUser`, `locked`, `wiped`, and the errors of each step.
    public func restore(user: String? = nil) async throws(MobileError) -> MobileSession {
        try await exclusively { () async throws(MobileError) in
            try await self.continueWipes()
            let session = try await self.session(try await self.known(user))
            return try await self.run(session, activation: nil)
        }
    }

    /// Goes on with a registration after a person has read the image.
    ///
    /// - Parameter text: The text of the image.
    /// - Throws: ``MobileError``: `captchaNeeded` with another image if the text is wrong, and the errors of
    ///   ``restore(user:)``.
    public func resume(captcha text: String) async throws(MobileError) -> MobileSession {
        guard let session = current else { throw .unknownUser(nil) }
        return try await exclusively { () async throws(MobileError) in
            try await self.step(.register) { () async throws(MobileError) in
                do throws(MobileError) {
                    try await session.registration.answer(captcha: text)
                } catch .captchaNeeded(let image) {
                    self.broadcast.send(.challenged(image))
                    throw .captchaNeeded(image)
                }
            }
            return try await self.run(session, activation: nil)
        }
    }

    /// Replaces a forgotten passcode. The user signs in again, and the server confirms that the registration belongs to
    /// the user. The keys in the vault are lost: stores are downloaded anew, and pending changes are lost.
    ///
    /// - Throws: ``MobileError``. If the sign-in fails, nothing is lost.
    public func resetPasscode(user: String? = nil) async throws(MobileError) -> MobileSession {
        try await exclusively { () async throws(MobileError) in try await self.reset(user) }
    }

    private func reset(_ user: String?) async throws(MobileError) -> MobileSession {
        try await continueWipes()
        let slot = try await known(user)
        guard slot.progress.done >= .registered else { throw .notRegistered }
        let session = try await session(slot)
        guard let id = session.registration.id else { throw .notRegistered }
        let flow = flow(session)
        let signIn = try await step(.signIn) { () async throws(MobileError) in
            let answer = try await flow.signIn(await session.progress, failure: nil)
            session.wire.authentication = try flow.authentication(answer, session.secrets)
            // Only the user of the registration gets this answer.
            try await session.settings.receive(of: id)
            return answer
        }
        try await session.records.set(signIn, KeptSignIn.record)
        try await session.advance(to: .policiesKnown)
        await configuration.closeStores?(session)
        do throws(DataVaultError) {
            try await configuration.vaults.delete(session.slot.secretsName)
        } catch .noVault {
            // It was destroyed by wrong passcodes.
        } catch {
            throw MobileError(error)
        }
        try session.slot.removeFiles()
        return try await run(session, activation: nil)
    }

    /// The users of this device.
    ///
    /// - Throws: ``MobileError/device(reason:)``.
    public func users() async throws(MobileError) -> [OnboardedUser] {
        try await continueWipes()
        return try await slots(removingUnfinished: false).map { found in
            OnboardedUser(
                user: found.progress.user ?? found.progress.subject, profile: found.progress.profile,
                isComplete: found.progress.done == .ready, lock: found.progress.lock)
        }
    }

    /// Removes a user with all stores from this device.
    ///
    /// - Parameters:
    ///   - user: The name of the user; `nil` for the only one.
    ///   - unregister: Whether the registration is removed at the server first, which needs the network and an unlocked
    ///     vault. Otherwise the server keeps it.
    /// - Throws: ``MobileError``.
    public func remove(user: String? = nil, unregister: Bool = true) async throws(MobileError) {
        try await exclusively { () async throws(MobileError) in
            try await self.removeUser(user, unregister: unregister)
        }
    }

    private func removeUser(_ user: String?, unregister: Bool) async throws(MobileError) {
        let slot = try await known(user)
        let session = try await session(slot)
        if unregister, session.registration.id != nil {
            if slot.progress.done >= .unlocked { try await unlock(session) }
            try await session.useSignIn()
            try await session.registration.unregister()
        }
        await configuration.closeStores?(session)
        await session.registration.stop()
        try await session.slot.remove()
        if current === session { current = nil }
    }

    /// Runs one call at a time: two calls at once must not make two registrations.
    private func exclusively<Value>(
        _ body: () async throws(MobileError) -> Value
    ) async throws(MobileError) -> Value {
        while isRunning { await withCheckedContinuation { waiters.append($0) } }
        isRunning = true
        defer {
            isRunning = false
            if !waiters.isEmpty { waiters.removeFirst().resume() }
        }
        return try await body()
    }

    // MARK: Sessions on the device

    private struct Found {
        var slot: SessionSlot
        var records: SessionRecords
        var progress: OnboardingProgress
    }

    private func continueWipes() async throws(MobileError) {
        let wiping = Wiping(configuration: configuration)
        guard try !wiping.orders().isEmpty else { return }
        try await wiping.continueAll(over: try makeTransport(TrustKeeper(interaction)))
    }

    private func slots(removingUnfinished: Bool = true) async throws(MobileError) -> [Found] {
        var found: [Found] = []
        for slot in try SessionSlot.all(configuration) {
            let records = try await slot.records()
            guard let progress: OnboardingProgress = try await records.value(SessionRecordNames.progress) else {
                // The app has ended before the first durable write.
                if removingUnfinished { try await slot.remove() }
                continue
            }
            found.append(Found(slot: slot, records: records, progress: progress))
        }
        return found
    }

    private func slot(where isWanted: (OnboardingProgress) -> Bool) async throws(MobileError) -> Found? {
        try await slots().first { isWanted($0.progress) }
    }

    private func known(_ user: String?) async throws(MobileError) -> Found {
        let all = try await slots()
        let found = all.filter { user == nil || $0.progress.user == user || $0.progress.subject == user }
        guard let first = found.first, user != nil || found.count == 1 else { throw .unknownUser(user) }
        return first
    }

    private static func isSame(
        _ progress: OnboardingProgress, _ profile: ConnectionProfile, user: String?
    ) -> Bool {
        guard progress.profile.application == profile.application, progress.profile.host == profile.host else {
            return false
        }
        return user == nil || (progress.user ?? progress.subject ?? user) == user
    }

    private func session(_ found: Found) async throws(MobileError) -> MobileSession {
        if let current, current.slot.name == found.slot.name { return current }
        let keeper = TrustKeeper(interaction, pins: found.progress.pins)
        let session = MobileSession(
            configuration, found.slot, records: found.records, progress: found.progress,
            transport: try makeTransport(keeper), keeper: keeper, broadcast: broadcast)
        try await session.load()
        return session
    }

    private func makeTransport(_ keeper: TrustKeeper) throws(MobileError) -> any HTTPTransport {
        do {
            return try configuration.makeTransport(keeper.trust)
        } catch {
            throw .device(reason: "\(error)")
        }
    }

    func flow(_ session: MobileSession) -> SignInFlow {
        SignInFlow(transport: session.transport, interaction: interaction, clock: configuration.clock)
    }

    // MARK: Steps

    /// Runs a step, and delivers its failure once.
    private func step<Value>(
        _ step: OnboardingStep, _ body: () async throws(MobileError) -> Value
    ) async throws(MobileError) -> Value {
        do throws(MobileError) {
            return try await body()
        } catch {
            if case .captchaNeeded = error { throw error }
            broadcast.send(.failed(error, from: step))
            throw error
        }
    }

    private func discover(
        _ profile: ConnectionProfile, user: String?, over transport: any HTTPTransport
    ) async throws(MobileError) -> OnboardingProgress {
        let found: DiscoveredApplication?
        do throws(MobileError) {
            found = try await ServerDiscovery(transport).application(of: profile)
        } catch .untrusted(let host, let reason) where profile.origin?.isAddress == true {
            throw .untrusted(
                host: host, reason: "\(reason) Certificates rarely contain addresses: use the name of the server.")
        } catch {
            throw error
        }
        var progress = OnboardingProgress(profile, user: user)
        progress.done = .discovered
        guard let found else { return progress }
        if let minimum = found.minimumAppVersion,
            !AppVersion.isEnough(configuration.applicationVersion, for: minimum)
        {
            throw .outdatedApp(minimum: minimum)
        }
        progress.methods = found.methods
        progress.needsActivation = found.needsActivation
        if let name = profile.securityConfiguration, !found.methods.contains(where: { $0.name == name }) {
            throw .unknownSecurityConfiguration(name)
        }
        return progress
    }

    /// Does the steps that are not done yet, and opens the stores.
    private func run(_ session: MobileSession, activation: Secret<String>?) async throws(MobileError) -> MobileSession {
        current = session
        await session.setUp(true)
        do throws(MobileError) {
            try await steps(session, activation: activation)
        } catch {
            await session.setUp(false)
            throw error
        }
        await session.setUp(false)
        current = nil
        return session
    }

    private func steps(_ session: MobileSession, activation: Secret<String>?) async throws(MobileError) {
        let isKnown = await session.progress.done >= .unlocked
        if isKnown {
            try await session.enforceOfflineLimit()
            try await step(.passcode) { () async throws(MobileError) in try await self.unlock(session) }
        }
        if await session.progress.done < .signedIn {
            try await signInAndRegister(session, activation: activation)
        } else {
            try await session.useSignIn()
            try await reconnect(session)
        }
        try await step(.policies) { () async throws(MobileError) in try await self.readPolicies(session) }
        if !isKnown {
            try await step(.passcode) { () async throws(MobileError) in try await self.createVault(session) }
        } else if await !session.secrets.isOpen {
            // Its time-out has passed, or other rules for the passcode have arrived meanwhile.
            try await step(.passcode) { () async throws(MobileError) in try await self.unlock(session) }
        }
        if await session.progress.done < .unlocked { try await session.advance(to: .unlocked) }
        broadcast.send(.unlocked)
        try await step(.stores) { () async throws(MobileError) in try await session.openStores() }
        try await session.keepPins()
    }

    /// Signs in and registers; a refused sign-in is asked again with its reason.
    private func signInAndRegister(
        _ session: MobileSession, activation: Secret<String>?
    ) async throws(MobileError) {
        var failure: MobileError?
        for _ in 0..<Self.maxRounds {
            let reason = failure
            let signIn = try await step(.signIn) { () async throws(MobileError) in
                try await self.flow(session).signIn(await session.progress, failure: reason)
            }
            try await session.secrets.set(signIn)
            try await session.change {
                $0.done = .signedIn
                $0.subject = signIn.subject
                $0.profile = $0.profile.naming(signIn.method)
            }
            broadcast.send(.signedIn(subject: signIn.subject))
            do throws(MobileError) {
                try await register(session, signIn, activation: activation)
                return
            } catch .signInRefused {
                failure = .signInRefused
                try await session.secrets.set(nil)
                try await session.change {
                    $0.done = .trusted
                    $0.subject = nil
                }
                broadcast.send(.failed(.signInRefused, from: .register))
            } catch {
                if case .captchaNeeded = error { throw error }
                broadcast.send(.failed(error, from: .register))
                throw error
            }
        }
        throw .signInRefused
    }

    private func register(
        _ session: MobileSession, _ signIn: KeptSignIn, activation: Secret<String>?
    ) async throws(MobileError) {
        session.wire.retarget(await session.progress.profile)
        try await session.useSignIn()
        broadcast.send(.registering)
        let registration = session.registration
        await registration.prepare(activation: signIn.activation.map { Secret($0) } ?? activation)
        do throws(MobileError) {
            try await registration.register()
        } catch .captchaNeeded(let image) {
            try await solve(image, session)
        } catch .unreachable(_, _, isRetried: true) {
            // The attempt goes on by itself, also after this wait.
            try await registration.waitUntilReady(timeout: configuration.registrationTimeout)
        }
        try await noteRegistered(session)
    }

    private func solve(_ first: CaptchaImage, _ session: MobileSession) async throws(MobileError) {
        var image = first
        while true {
            broadcast.send(.challenged(image))
            guard let text = await interaction.solve(image) else { throw .captchaNeeded(image) }
            do throws(MobileError) {
                return try await session.registration.answer(captcha: text)
            } catch .captchaNeeded(let next) {
                image = next
            }
        }
    }

    private func noteRegistered(_ session: MobileSession) async throws(MobileError) {
        guard let id = session.registration.id else { throw .notRegistered }
        if await session.progress.done < .registered { try await session.advance(to: .registered) }
        broadcast.send(.registered(id: id))
    }

    /// Connects a session of an earlier run. A session without a registration at the server is registered.
    private func reconnect(_ session: MobileSession) async throws(MobileError) {
        guard let signIn = try await session.secrets.signIn() else {
            return try await signInAndRegister(session, activation: nil)
        }
        guard session.registration.id != nil else {
            do throws(MobileError) {
                return try await register(session, signIn, activation: nil)
            } catch .signInRefused {
                return try await signInAndRegister(session, activation: nil)
            } catch {
                if case .captchaNeeded = error { throw error }
                broadcast.send(.failed(error, from: .register))
                throw error
            }
        }
        do throws(MobileError) {
            try await session.registration.start()
            try await noteRegistered(session)
        } catch .unreachable {
            // Without a network, an app works with its stores.
            broadcast.send(.registered(id: session.registration.id ?? ""))
        } catch .locked {
            // The policies say more.
        } catch .notRegistered {
            // The server has removed the registration: start again, the stores stay.
            try await signInAndRegister(session, activation: nil)
        } catch .signInRefused {
            try await signInAgain(session)
        }
    }

    /// Asks for new credentials, since the server no longer accepts the old ones.
    private func signInAgain(_ session: MobileSession) async throws(MobileError) {
        var failure = MobileError.signInRefused
        for _ in 0..<Self.maxRounds {
            let reason = failure
            let flow = flow(session)
            let answer = try await step(.signIn) { () async throws(MobileError) in
                try await flow.signIn(await session.progress, failure: reason)
            }
            session.wire.authentication = try flow.authentication(answer, session.secrets)
            do throws(MobileError) {
                try await session.registration.start()
                try await session.secrets.set(answer)
                return try await noteRegistered(session)
            } catch .signInRefused {
                failure = .signInRefused
            }
        }
        throw failure
    }

    private func readPolicies(_ session: MobileSession) async throws(MobileError) {
        do throws(MobileError) {
            try await session.refreshPolicies()
        } catch .unreachable(let host, let reason, let isRetried) {
            guard try await session.policies.age != nil else {
                throw .unreachable(host: host, reason: reason, isRetried: isRetried)
            }
        } catch .locked(.passcode) {
            // New rules for the passcode: it is asked, and checked, at once.
            try await unlock(session)
        }
        if await session.progress.done < .policiesKnown { try await session.advance(to: .policiesKnown) }
        broadcast.send(.policiesKnown)
        if let lock = await session.progress.lock {
            await session.applyLock(lock)
            throw .locked(lock)
        }
    }
}
