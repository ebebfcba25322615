import DataVault
import Foundation
import HTTPTypes
import ODataHTTP
import ODataService
import Secrets
import Testing

@testable import MobileClient
@testable import MobileServer

/// From the first start to open stores, against the real server (`mobile-client.md` 2).
@Suite("Onboarding of an app") struct AppOnboardingTests {
    private static func source(_ lab: MobileLab) -> ConfigurationSource { .url(lab.url, application: "shop") }

    @Test("A user is set up in all steps, and a later start needs no sign-in")
    func whole() async throws {
        try await MobileLab.run {
            $0.security["users"]?.defaults = ["Colour": DefaultSetting(value: "blue")]
            $0.policies.features = ["scan": false]
        } _: { lab in
            let screens = ScriptedScreens()
            let onboarding = Onboarding(try lab.configuration(), interaction: screens)
            let states = onboarding.states
            let session = try await onboarding.onboard(from: Self.source(lab))
            var seen: [OnboardingState] = []
            for await state in states {
                seen.append(state)
                if state == .ready { break }
            }
            let id = try #require(session.registration.id)
            #expect(
                seen == [
                    .start, .discovered(try lab.profile()), .trusted, .signedIn(subject: "ann"), .registering,
                    .registered(id: id), .policiesKnown, .unlocked, .ready,
                ])
            #expect(screens.requests.map(\.methods) == [[SignInMethod(name: "users", kind: .basic)]])
            #expect(screens.purposes.isEmpty, "no policy demands a passcode")
            #expect(try await session.settings.value("Colour") == "blue")
            #expect(try await session.policies.isEnabled("scan") == false)
            #expect(try await session.policies.isEnabled("other"))
            #expect(try await lab.registrations().first?.device.appVersion == "2.0")

            let later = Onboarding(try lab.configuration(), interaction: screens)
            #expect(
                try await later.users() == [
                    OnboardedUser(user: "ann", profile: try lab.profile("users"), isComplete: true, lock: nil)
                ])
            let restored = try await later.restore()
            #expect(restored.registration.id == id && restored.registration.connection == .connected)
            #expect(screens.requests.count == 1)
            await #expect(throws: MobileError.alreadyOnboarded("ann")) {
                try await later.onboard(from: Self.source(lab), user: "ann")
            }
            await #expect(throws: MobileError.unknownUser("eve")) { try await later.restore(user: "eve") }
        }
    }

    @Test("Without a network, a user goes on with the stores and the last known policies")
    func offline() async throws {
        try await MobileLab.run {
            $0.policies.features = ["scan": false]
        } _: { lab in
            let screens = ScriptedScreens()
            _ = try await Onboarding(try lab.configuration(), interaction: screens).onboard(from: Self.source(lab))
            lab.wire.breakRequests(.noNetwork)
            lab.clock.advance(by: 3600)
            let session = try await Onboarding(try lab.configuration(), interaction: screens).restore()
            #expect(session.registration.connection == .error)
            #expect(try await session.policies.isEnabled("scan") == false)
            #expect(try await session.policies.age == 3600)
            // The connection comes by itself.
            lab.wire.mend()
            await session.registration.networkReturned()
            #expect(try await eventually { session.registration.connection == .connected })
        }
    }

    @Test("A wrong password is asked again with its reason, and the user can give up")
    func wrongPassword() async throws {
        try await MobileLab.run { lab in
            let screens = ScriptedScreens()
            screens.change {
                $0.signIns = [
                    .basic(user: "ann", password: Secret("wrong")), nil,
                ]
            }
            let onboarding = Onboarding(try lab.configuration(), interaction: screens)
            await #expect(throws: MobileError.signInCancelled) {
                try await onboarding.onboard(from: Self.source(lab))
            }
            #expect(screens.requests.map(\.failure) == [nil, .signInRefused])
            #expect(try await lab.registrations().isEmpty)
            screens.change { $0.signIns = [.basic(user: "ann", password: Secret("ann's password"))] }
            let session = try await onboarding.onboard(from: Self.source(lab))
            #expect(session.registration.state == .registered)
            #expect(try await onboarding.users().count == 1)
        }
    }

    @Test("A passcode has to meet the policy, opens the vault later, and its limit destroys the data")
    func passcode() async throws {
        try await MobileLab.run {
            $0.policies.password.isEnabled = true
            $0.policies.password.minimumLength = 8
            $0.policies.password.needsDigits = true
            $0.policies.password.retryLimit = 3
        } _: { lab in
            let screens = ScriptedScreens()
            screens.change { $0.passcodes = ["short", "long enough 7"] }
            _ = try await Onboarding(try lab.configuration(), interaction: screens).onboard(from: Self.source(lab))
            #expect(
                screens.purposes == [
                    .create(violations: []), .create(violations: [.tooShort, .digitMissing]),
                ])
            let next = ScriptedScreens()
            next.change { $0.passcodes = ["wrong", "long enough 7"] }
            let session = try await Onboarding(try lab.configuration(), interaction: next).restore()
            #expect(session.registration.connection == .connected)
            #expect(
                next.purposes == [
                    .unlock(isRepeated: false, attemptsLeft: nil), .unlock(isRepeated: true, attemptsLeft: 2),
                ])
            #expect(next.requests.isEmpty)
            let thief = ScriptedScreens()
            thief.change { $0.passcodes = ["guess"] }
            let onboarding = Onboarding(try lab.configuration(), interaction: thief)
            await #expect(throws: MobileError.wiped) { try await onboarding.restore() }
            #expect(try await onboarding.users().isEmpty)
            #expect(try lab.bytesOnDevice().isEmpty)
        }
    }

    @Test("A forgotten passcode is replaced after a sign-in, and the registration stays")
    func reset() async throws {
        try await MobileLab.run {
            $0.policies.password.isEnabled = true
        } _: { lab in
            let screens = ScriptedScreens()
            let id = try await Onboarding(try lab.configuration(), interaction: screens)
                .onboard(from: Self.source(lab)).registration.id
            let forgetful = ScriptedScreens()
            forgetful.change {
                $0.passcodes = ["second passcode 2"]
                $0.signIns = [.basic(user: "bob", password: Secret("bob's password"))]
            }
            let onboarding = Onboarding(try lab.configuration(), interaction: forgetful)
            // Another user cannot take the data away.
            await #expect(throws: MobileError.wrongUser) { try await onboarding.resetPasscode() }
            let same = Onboarding(try lab.configuration(), interaction: screens)
            #expect(try await same.restore().registration.id == id)
            forgetful.change { $0.signIns = [.basic(user: "ann", password: Secret("ann's password"))] }
            let session = try await onboarding.resetPasscode()
            #expect(session.registration.id == id)
            await #expect(throws: MobileError.self) { try await same.restore() }
            let known = ScriptedScreens()
            known.change { $0.passcodes = ["second passcode 2"] }
            #expect(
                try await Onboarding(try lab.configuration(), interaction: known).restore().registration.id == id)
        }
    }

    @Test("An image is answered at once, or later")
    func captcha() async throws {
        try await MobileLab.run {
            $0.security = ["guests": SecurityConfiguration(kind: .anonymous)]
            $0.registration.captcha = .anonymous
        } _: { lab in
            let screens = ScriptedScreens()
            screens.change {
                $0.signIns = [.anonymous()]
                $0.captcha = { nil }
            }
            let onboarding = Onboarding(try lab.configuration(), interaction: screens)
            do {
                _ = try await onboarding.onboard(from: Self.source(lab))
                Issue.record("the image was not asked")
            } catch MobileError.captchaNeeded(let image) {
                #expect(image.roundsLeft == 3)
            }
            let session = try await onboarding.resume(captcha: lab.captchaText)
            #expect(session.registration.state == .registered)
            try await onboarding.remove()
            screens.change { $0.captcha = { lab.captchaText } }
            #expect(
                try await onboarding.onboard(from: Self.source(lab)).registration.state == .registered)
        }
    }

    @Test("Two users have two registrations, and the data of one do not open for the other")
    func twoUsers() async throws {
        try await MobileLab.run { lab in
            let screens = ScriptedScreens()
            screens.change {
                $0.signIns = [
                    .basic(user: "ann", password: Secret("ann's password")),
                    .basic(user: "bob", password: Secret("bob's password")),
                ]
            }
            let onboarding = Onboarding(try lab.configuration(), interaction: screens)
            let ann = try await onboarding.onboard(from: Self.source(lab), user: "ann")
            let bob = try await onboarding.onboard(from: Self.source(lab), user: "bob")
            #expect(ann.registration.id != bob.registration.id)
            #expect(ann.directory(ofStore: "orders") != bob.directory(ofStore: "orders"))
            #expect(try await ann.key(forStore: "orders") != bob.key(forStore: "orders"))
            #expect(try await onboarding.users().compactMap(\.user).sorted() == ["ann", "bob"])
            await #expect(throws: MobileError.unknownUser(nil)) { try await onboarding.restore() }
            #expect(try await onboarding.restore(user: "bob").registration.id == bob.registration.id)
            try await onboarding.remove(user: "bob")
            #expect(try await onboarding.users().map(\.user) == ["ann"])
            #expect(try await lab.registrations().filter { $0.state == .registered }.map(\.id) == [ann.registration.id])
        }
    }

    @Test("An app that is too old, an unknown application and a foreign security configuration are refused early")
    func refusedEarly() async throws {
        try await MobileLab.run {
            $0.registration.minimumAppVersion = "2.1"
        } _: { lab in
            let onboarding = Onboarding(try lab.configuration(), interaction: ScriptedScreens())
            await #expect(throws: MobileError.outdatedApp(minimum: "2.1")) {
                try await onboarding.onboard(from: Self.source(lab))
            }
            await #expect(throws: MobileError.unknownApplication("other")) {
                try await onboarding.onboard(from: .url(lab.url, application: "other"))
            }
            #expect(try await onboarding.users().isEmpty)
            #expect(AppVersion.isEnough("2.10", for: "2.9") && !AppVersion.isEnough("2", for: "2.0.1"))
        }
    }

    @Test("Two calls at once set up one user")
    func twoCalls() async throws {
        try await MobileLab.run { lab in
            let onboarding = Onboarding(try lab.configuration(), interaction: ScriptedScreens())
            async let first = onboarding.onboard(from: Self.source(lab), user: "ann")
            async let second = onboarding.onboard(from: Self.source(lab), user: "ann")
            let results = [try? await first, try? await second]
            #expect(results.compactMap { $0 }.count == 1)
            #expect(try await lab.registrations().count == 1)
        }
    }

    @Test("A plain OData service without a mobile server is told apart, and nothing is left behind")
    func plainService() async throws {
        let plain = LoopbackTransport { request, _ in
            var response = HTTPResponse(status: .notFound)
            response.headerFields[.contentType] = "text/html"
            return (response, ByteStream(Array("<html>\(request.path ?? "")</html>".utf8)))
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("plain-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let vaults = try VaultFolder(directory: folder, keys: FileSecretStore(directory: folder + "/keys"))
        let onboarding = Onboarding(
            MobileSession.Configuration(
                directory: folder, vaults: vaults, transport: plain, applicationVersion: "1"),
            interaction: ScriptedScreens())
        await #expect(throws: MobileError.unsupported("registrations of devices")) {
            try await onboarding.onboard(from: .url("https://plain.example", application: "shop"))
        }
    }

    @Test("A certificate that the user has accepted is not asked again, and another one is")
    func trust() async throws {
        func question(_ pin: String) -> ServerTrustQuestion {
            ServerTrustQuestion(
                host: "a.example", port: 443,
                chain: [
                    ServerCertificate(
                        subject: "CN=a", commonName: "a", issuer: "CN=a", issuerCommonName: "a", serialNumber: "1",
                        notBefore: 0, notAfter: 1, names: [], fingerprint: "f", pin: pin, bytes: [])
                ], reason: "self-signed")
        }
        let wary = TrustKeeper(ScriptedScreens())
        #expect(await wary.trust.decide?(question("one")) == false)
        let known = TrustKeeper(ScriptedScreens(), pins: ["one"])
        #expect(await known.trust.decide?(question("one")) == true)
        #expect(await known.trust.decide?(question("two")) == false)
    }

    // MARK: Ends

    @Test("A device that ends after any durable write goes on, and registers once")
    func endsEverywhere() async throws {
        let writes = try await Self.onboardingWrites()
        #expect(writes.count >= 8)
        for number in 1...writes.count {
            try await MobileLab.run {
                $0.policies.password.isEnabled = true
            } _: { lab in
                let device = MortalDevice()
                device.end(at: number)
                let screens = ScriptedScreens()
                let first = Onboarding(try lab.configuration(device), interaction: screens)
                await #expect(throws: MobileError.self, "write \(number): \(writes[number - 1])") {
                    try await first.onboard(from: Self.source(lab))
                }
                // The next start of the app.
                let next = Onboarding(try lab.configuration(), interaction: screens)
                let session =
                    try await next.users().isEmpty
                    ? try await next.onboard(from: Self.source(lab)) : try await next.restore()
                #expect(session.registration.state == .registered, "write \(number): \(writes[number - 1])")
                let registered = try await lab.registrations()
                #expect(registered.count == 1, "write \(number): \(writes[number - 1])")
                #expect(try await next.users().count == 1)
            }
        }
    }

    private static func onboardingWrites() async throws -> [String] {
        let device = MortalDevice()
        try await MobileLab.run {
            $0.policies.password.isEnabled = true
        } _: { lab in
            let onboarding = Onboarding(try lab.configuration(device), interaction: ScriptedScreens())
            _ = try await onboarding.onboard(from: Self.source(lab))
        }
        return device.writes
    }

    // MARK: Secrets

    @Test("No password, passcode, token or key lies readable in a file")
    func secrets() async throws {
        try await MobileLab.run {
            $0.policies.password.isEnabled = true
        } _: { lab in
            let session = try await Onboarding(try lab.configuration(), interaction: ScriptedScreens()).onboard(
                from: Self.source(lab))
            await session.enterBackground()
            let bytes = try lab.bytesOnDevice()
            #expect(bytes.count > 1000)
            let text = String(decoding: bytes, as: UTF8.self)
            let credentials = Data("ann:ann's password".utf8).base64EncodedString()
            for secret in ["ann's password", "first passcode", credentials, try #require(session.registration.id)] {
                #expect(!text.contains(secret), "\(secret)")
            }
        }
    }
}
