import Foundation
import Secrets
import Testing

@testable import MobileClient
@testable import MobileServer

/// Registration against the real server (`mobile-client.md` 3).
@Suite("Registration of a device") struct DeviceRegistrationTests {
    @Test("A device registers with a key of its own, and is ready with its settings")
    func register() async throws {
        try await MobileLab.run {
            $0.security["users"]?.defaults = ["Colour": DefaultSetting(value: "blue")]
        } _: { lab in
            let device = try await RegistrationLab(lab)
            try await device.registration.register()
            try await device.registration.waitUntilReady(timeout: .seconds(60))
            let records = try await lab.registrations()
            #expect(records.map(\.id) == [device.registration.id])
            #expect(records.first?.publicKey != nil)
            #expect(try await device.settings.value("d:Colour") == "blue")
            // A second call does nothing.
            let count = lab.wire.requests.count
            try await device.registration.register()
            #expect(lab.wire.requests.count == count)
        }
    }

    @Test("A lost answer is repeated with the same id and key, and the server has one registration")
    func lostAnswer() async throws {
        try await MobileLab.run { lab in
            let device = try await RegistrationLab(lab)
            lab.wire.breakRequests(.lostAnswer, to: "POST", times: 2)
            await #expect(throws: MobileError.unreachable(host: "", reason: "", isRetried: true)) {
                do {
                    try await device.registration.register()
                } catch MobileError.unreachable(_, _, let isRetried) {
                    throw MobileError.unreachable(host: "", reason: "", isRetried: isRetried)
                }
            }
            for _ in 0..<2 {
                #expect(try await eventually { lab.clock.sleeping == 1 })
                lab.clock.advance(by: 300)
                #expect(try await eventually { lab.clock.sleeping == 1 || device.registration.id != nil })
            }
            #expect(try await eventually { device.registration.id != nil })
            #expect(lab.wire.requests.count { $0.hasPrefix("POST") } == 3)
            #expect(try await lab.registrations().map(\.id) == [device.registration.id])
        }
    }

    @Test("A wait that times out or is cancelled does not end the attempt")
    func waiting() async throws {
        try await MobileLab.run { lab in
            let device = try await RegistrationLab(lab)
            lab.wire.breakRequests(.lostRequest, to: "POST", times: 1)
            _ = try? await device.registration.register()
            let wait = Task { try await device.registration.waitUntilReady(timeout: .seconds(1)) }
            #expect(try await eventually { lab.clock.sleeping == 2 })
            lab.clock.advance(by: 1)
            await #expect(throws: MobileError.timedOut) { try await wait.value }
            let cancelled = Task { try await device.registration.waitUntilReady(timeout: .seconds(900)) }
            #expect(try await eventually { lab.clock.sleeping == 2 })
            cancelled.cancel()
            await #expect(throws: MobileError.cancelled) { try await cancelled.value }
            let late = Task { try await device.registration.waitUntilReady(timeout: .seconds(900)) }
            #expect(try await eventually { lab.clock.sleeping == 2 })
            lab.clock.advance(by: 300)
            try await late.value
            #expect(device.registration.state == .registered)
        }
    }

    @Test("Two calls at the same time make one attempt")
    func once() async throws {
        try await MobileLab.run { lab in
            let device = try await RegistrationLab(lab)
            async let first: Void = device.registration.register()
            async let second: Void = device.registration.register()
            _ = try await (first, second)
            #expect(lab.wire.requests.count { $0.hasPrefix("POST") } == 1)
        }
    }

    @Test("A wrong password is a final failure, and nothing is repeated")
    func refused() async throws {
        try await MobileLab.run { lab in
            let device = try await RegistrationLab(lab, user: "mallory")
            await #expect(throws: MobileError.signInRefused) { try await device.registration.register() }
            #expect(device.registration.state == .error)
            #expect(device.registration.connection == .disconnected)
            #expect(lab.clock.sleeping == 0)
            await #expect(throws: MobileError.notRegistered) { try await device.registration.start() }
        }
    }

    @Test("A later run finds the registration and goes on with it")
    func laterRun() async throws {
        try await MobileLab.run { lab in
            let id = try await { () async throws -> String? in
                let device = try await RegistrationLab(lab)
                try await device.registration.register()
                return device.registration.id
            }()
            let device = try await RegistrationLab(lab)
            #expect(device.registration.id == id && id != nil)
            #expect(device.registration.state == .registered)
            try await device.registration.start()
            #expect(device.registration.connection == .connected)
            #expect(try await lab.registrations().count == 1)
        }
    }

    @Test("A removal forgets id, key, settings, cookies and credentials")
    func unregister() async throws {
        try await MobileLab.run { lab in
            let device = try await RegistrationLab(lab)
            try await device.registration.register()
            try await device.registration.unregister()
            #expect(device.registration.id == nil)
            #expect(try await lab.registrations().allSatisfy { $0.state == .unregistered })
            let kept: Registration.Kept? = try await device.records.value(Registration.record)
            #expect(kept == nil)
            let settings: AppSettings.Snapshot? = try await device.records.value(AppSettings.record)
            #expect(settings == nil)
            #expect(device.wire.authentication.steps.isEmpty)
            await #expect(throws: MobileError.notRegistered) { try await device.registration.unregister() }
        }
    }

    @Test("A registration that the server has removed is forgotten on the device")
    func removedAtServer() async throws {
        try await MobileLab.run { lab in
            let device = try await RegistrationLab(lab)
            try await device.registration.register()
            let id = try #require(device.registration.id)
            await device.registration.stop()
            try await lab.state.registrations.unregister(id, of: lab.application.id, ifMatch: nil)
            await #expect(throws: MobileError.notRegistered) { try await device.registration.start() }
            #expect(device.registration.state == .unregistered)
            device.wire.authentication = .basic(user: "ann", password: "ann's password")
            try await device.registration.register()
            #expect(device.registration.id != id)
        }
    }

    @Test("A preset id is used, and the id of another user is refused")
    func presetID() async throws {
        try await MobileLab.run { lab in
            let device = try await RegistrationLab(lab)
            await device.registration.prepare(id: "till-7")
            try await device.registration.register()
            #expect(device.registration.id == "till-7")
            let other = try await RegistrationLab(lab, user: "bob", vault: "other")
            await other.registration.prepare(id: "till-7")
            await #expect(throws: MobileError.alreadyRegistered) { try await other.registration.register() }
        }
    }

    @Test("A person reads the image, and after three wrong texts has to wait")
    func captcha() async throws {
        try await MobileLab.run {
            $0.security = ["guests": SecurityConfiguration(kind: .anonymous)]
            $0.registration.captcha = .anonymous
        } _: { lab in
            let device = try await RegistrationLab(lab, user: nil)
            func image(_ body: () async throws -> Void) async throws -> CaptchaImage? {
                do {
                    try await body()
                    return nil
                } catch MobileError.captchaNeeded(let image) {
                    return image
                }
            }
            let asked = try await image { try await device.registration.register() }
            let first = try #require(asked)
            #expect(lab.wire.requests.count == 2)
            #expect(first.roundsLeft == 3 && first.png.starts(with: [0x89, 0x50, 0x4E, 0x47]))
            #expect(await device.registration.captcha == first)
            #expect(lab.wire.requests.count == 2)
            let second = try await image { try await device.registration.answer(captcha: "WRONG") }
            #expect(second?.roundsLeft == 2, "\(lab.wire.requests)")
            try await device.registration.answer(captcha: lab.captchaText)
            #expect(device.registration.state == .registered)
            let guesser = try await RegistrationLab(lab, user: nil, vault: "guesser")
            _ = try await image { try await guesser.registration.register() }
            for _ in 0..<2 { _ = try await image { try await guesser.registration.answer(captcha: "WRONG") } }
            await #expect(throws: MobileError.tooManyRequests(seconds: 300)) {
                try await guesser.registration.answer(captcha: "WRONG")
            }
        }
    }

    @Test("An invitation needs its activation code, which no other device can use")
    func activation() async throws {
        try await MobileLab.run {
            $0.registration.needsActivation = true
        } _: { lab in
            let device = try await RegistrationLab(lab)
            await #expect(throws: MobileError.automaticRegistrationDisabled) {
                try await device.registration.register()
            }
            await device.registration.prepare(activation: Secret("AAAA-BBBB-CCCC"))
            await #expect(throws: MobileError.activationCodeInvalid) { try await device.registration.register() }
        }
    }

    @Test("Other addresses of the same server keep the id, and another server is refused")
    func retarget() async throws {
        try await MobileLab.run { lab in
            let device = try await RegistrationLab(lab)
            try await device.registration.register()
            let id = device.registration.id
            let relay = try ConnectionProfile(
                url: lab.url + "/client/rs_client.dll/farm", application: "shop")
            try await device.registration.retarget(relay, forgettingServerKeys: true)
            try await device.settings.refresh()
            #expect(lab.wire.requests.last?.contains("/client/rs_client.dll/farm/m/v1/shop/") == true)
            #expect(device.registration.id == id)
            let other = try ConnectionProfile(url: "https://other.example", application: "shop")
            await #expect(throws: MobileError.otherServer("https://other.example/")) {
                try await device.registration.retarget(other)
            }
        }
    }

    @Test("The address at a push service reaches the server")
    func pushTarget() async throws {
        try await MobileLab.run { lab in
            let device = try await RegistrationLab(lab)
            try await device.registration.register()
            try await device.registration.setPushTarget(PushTarget(.apns, token: [0x0A, 0xFF]))
            let record = try #require(try await lab.registrations().first)
            #expect(record.device.pushKind == "apns" && record.device.isPushEnabled)
            try await device.registration.setPushTarget(nil)
            #expect(try await lab.registrations().first?.device.pushKind == "none")
        }
    }

    @Test("Settings are changed together or not at all, and a read-only one refuses the call (70005)")
    func settings() async throws {
        try await MobileLab.run {
            $0.security["users"]?.defaults = [
                "Colour": DefaultSetting(value: "blue"), "Server": DefaultSetting(value: "north", isReadOnly: true),
            ]
        } _: { lab in
            let device = try await RegistrationLab(lab)
            try await device.registration.register()
            var changes = device.settings.changes.makeAsyncIterator()
            try await device.settings.set(["d:Colour": "red", "Size": "9"])
            #expect(
                await changes.next() == [
                    AppSettingChange(name: "Colour", old: "blue", new: "red"),
                    AppSettingChange(name: "Size", old: nil, new: "9"), .exchangeComplete,
                ])
            await #expect(throws: MobileError.settingNotEditable("Server")) {
                try await device.settings.set(["Colour": "green", "Server": "south"])
            }
            let known = ["Colour": "red", "Server": "north", "Size": "9"]
            #expect(try await device.settings.all(refreshing: true) == known)
            // Without a network, the last known values and their age.
            lab.wire.breakRequests(.noNetwork)
            lab.clock.advance(by: 90)
            #expect(try await device.settings.all() == known)
            #expect(try await device.settings.age == 90)
            await #expect(throws: MobileError.settingMissing("PushEndpoint")) {
                try await device.settings.pushEndpoint
            }
        }
    }
}
