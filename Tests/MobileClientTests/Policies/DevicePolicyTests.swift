import DataVault
import Foundation
import HTTPTypes
import ODataHTTP
import ODataModel
import ODataService
import Secrets
import ServerState
import Testing

@testable import MobileClient
@testable import MobileServer

/// Locks, wipes, rules for passcodes and the limit of working offline (`mobile-client.md` 4 and 10).
@Suite("Policies on a device") struct DevicePolicyTests {
    private static func onboard(
        _ lab: MobileLab, _ screens: ScriptedScreens = ScriptedScreens(), _ device: MortalDevice? = nil
    ) async throws -> MobileSession {
        try await Onboarding(try lab.configuration(device), interaction: screens).onboard(
            from: .url(lab.url, application: "shop"))
    }

    @Test("Review 10: an order locks the app until the operator takes it back, and both are confirmed")
    func lock() async throws {
        try await MobileLab.run { lab in
            let session = try await Self.onboard(lab)
            let id = try #require(session.registration.id)
            try await lab.lock(.locked, id)
            await #expect(throws: MobileError.locked(.order)) { try await session.refreshPolicies() }
            #expect(await session.lockReason == .order)
            #expect(try await lab.registrations().first?.isLockConfirmed == true)
            await #expect(throws: MobileError.locked(.order)) { try await session.key(forStore: "orders") }
            await #expect(throws: MobileError.locked(.order)) { try await session.unlock(nil) }
            // The next start of the app is locked, too, also without a network.
            lab.wire.breakRequests(.noNetwork)
            let next = Onboarding(try lab.configuration(), interaction: ScriptedScreens())
            await #expect(throws: MobileError.locked(.order)) { try await next.restore() }
            #expect(try await next.users().first?.lock == .order)
            lab.wire.mend()
            try await lab.lock(.none, id)
            let restored = try await next.restore()
            #expect(await restored.lockReason == nil)
            #expect(try await lab.registrations().first?.isLockConfirmed == true)
        }
    }

    @Test("Review 10: a back end that answers 403 DeviceWiped erases nothing")
    func hostileBackEnd() async throws {
        try await MobileLab.run { lab in
            let session = try await Self.onboard(lab)
            let before = lab.wire.requests.count { $0.contains("/Policies") }
            let transport = try session.transport()
            let request = try ServiceRootForTest.request(session.serviceRoot(ofDestination: "back") + "Orders")
            let (response, stream) = try await transport.send(request, body: nil)
            #expect(response.status.code == 403)
            #expect(try await stream.collect(limit: 1000).isEmpty == false)
            // The device only asks its own server.
            #expect(try await eventually { lab.wire.requests.count { $0.contains("/Policies") } > before })
            #expect(await session.lockReason == nil)
            _ = try await session.key(forStore: "orders")
        }
    }

    @Test("Review 9: a wipe erases keys, files and credentials, and is confirmed without them")
    func wipe() async throws {
        try await MobileLab.run { lab in
            let session = try await Self.onboard(lab)
            let id = try #require(session.registration.id)
            let secret = (0..<32).map { UInt8($0) }
            try await lab.lock(.wipe, id, confirmation: secret)
            await #expect(throws: MobileError.wiped) { try await session.refreshPolicies() }
            #expect(try lab.bytesOnDevice().isEmpty)
            #expect(try await lab.registrations().first?.state == .unregistered)
            let next = Onboarding(try lab.configuration(), interaction: ScriptedScreens())
            #expect(try await next.users().isEmpty)
            #expect(try await next.onboard(from: .url(lab.url, application: "shop")).registration.id != id)
        }
    }

    @Test("A wipe whose confirmation is lost is confirmed at the next start")
    func lostConfirmation() async throws {
        try await MobileLab.run { lab in
            let session = try await Self.onboard(lab)
            let id = try #require(session.registration.id)
            try await lab.lock(.wipe, id, confirmation: (0..<32).map { UInt8($0) })
            lab.wire.breakRequests(.lostRequest, to: "Confirm")
            await #expect(throws: MobileError.wiped) { try await session.refreshPolicies() }
            #expect(try await lab.registrations().first?.state != .unregistered)
            lab.wire.mend()
            let next = Onboarding(try lab.configuration(), interaction: ScriptedScreens())
            #expect(try await next.users().isEmpty)
            #expect(try await lab.registrations().first?.state == .unregistered)
            #expect(try lab.bytesOnDevice().isEmpty)
        }
    }

    @Test("A wipe that is interrupted at any of its steps ends at the next start, before anything else")
    func interruptedWipe() async throws {
        for step in 1...5 {
            try await MobileLab.run { lab in
                let device = MortalDevice()
                let session = try await Self.onboard(lab, ScriptedScreens(), device)
                let id = try #require(session.registration.id)
                try await lab.lock(.wipe, id, confirmation: (0..<32).map { UInt8($0) })
                // The first writes are those of the policies and the contact.
                let before = device.writes.count
                let order = PolicySnapshot.Lock(
                    state: .wipe, version: try #require(try await lab.registrations().first?.lockVersion),
                    confirmation: Base64URL.encode((0..<32).map { UInt8($0) }))
                device.end(at: before + step)
                await #expect(throws: MobileError.self, "step \(step)") { try await session.wipe(order: order) }
                let next = Onboarding(try lab.configuration(), interaction: ScriptedScreens())
                #expect(try await next.users().isEmpty, "step \(step)")
                #expect(try lab.bytesOnDevice().isEmpty, "step \(step)")
                #expect(try await lab.registrations().first?.state == .unregistered, "step \(step)")
            }
        }
    }

    @Test("Rules for the passcode that arrive lock the vault, and a passcode against them is changed")
    func newRules() async throws {
        try await MobileLab.run {
            $0.policies.password.isEnabled = true
        } _: { lab in
            let session = try await Self.onboard(lab)
            try await lab.set("PasswordPolicy", #"{"MinLength":20}"#)
            await #expect(throws: MobileError.locked(.passcode)) { try await session.refreshPolicies() }
            #expect(await session.lockReason == .passcode)
            let old = Secret("first passcode 1")
            await #expect(throws: MobileError.weakPasscode([.tooShort])) { try await session.unlock(old) }
            await #expect(throws: MobileError.weakPasscode([.tooShort])) {
                try await session.changePasscode(from: old, to: Secret("still short"))
            }
            await #expect(throws: MobileError.wrongPasscode(attemptsLeft: nil)) {
                try await session.changePasscode(from: Secret("wrong"), to: Secret("a passcode of 20 characters"))
            }
            try await session.changePasscode(from: old, to: Secret("a passcode of 20 characters"))
            #expect(await session.lockReason == nil)
            _ = try await session.key(forStore: "orders")
        }
    }

    @Test("A passcode that is demanded later is asked for at the next start")
    func demandedLater() async throws {
        try await MobileLab.run { lab in
            _ = try await Self.onboard(lab)
            try await lab.set("PasswordPolicy", #"{"Enabled":true,"MinLength":4}"#)
            let screens = ScriptedScreens()
            screens.change { $0.passcodes = ["1", "12345"] }
            let session = try await Onboarding(try lab.configuration(), interaction: screens).restore()
            #expect(
                screens.purposes == [.change(violations: [.required]), .change(violations: [.tooShort])])
            #expect(await session.lockReason == nil)
        }
    }

    @Test("Policies and features are typed, kept with their age, and transferred once")
    func typed() async throws {
        try await MobileLab.run {
            $0.policies.security.allowsCopy = false
            $0.policies.lock.offlineDays = 7
            $0.policies.throttling.perMinute = 30
        } _: { lab in
            let session = try await Self.onboard(lab)
            try await lab.set(
                "Features",
                """
                {"All":false,"Switches":[{"Name":"print","IsEnabled":true,"Parameters":[{"Name":"dpi","Value":"300"}]}]}
                """
            )
            var changes = session.policies.changes.makeAsyncIterator()
            let known = try await session.refreshPolicies()
            #expect(await changes.next() == known)
            #expect(!known.security.allowsCopy && known.security.allowsPrint)
            #expect(known.offlineLimit.lockDays == 7 && known.throttling.perMinute == 30)
            #expect(known.isEnabled("print") && !known.isEnabled("scan"))
            #expect(known.parameters(of: "print") == ["dpi": "300"])
            lab.clock.advance(by: 60)
            #expect(try await session.policies.age == 60)
            #expect(try await session.refreshPolicies().version == known.version)
            #expect(try await session.policies.age == 0)
        }
    }

    @Test("An answer that announces a new version makes the device read it")
    func announced() async throws {
        try await MobileLab.run { lab in
            let session = try await Self.onboard(lab)
            try await lab.set("Crash", "true")
            try await session.settings.refresh()
            #expect(try await eventually { try await session.policies.current().uploadsCrashes })
        }
    }

    @Test("The destinations of an application are known without a network after the first exchange")
    func destinations() async throws {
        try await MobileLab.run { lab in
            let session = try await Self.onboard(lab)
            let found = try await session.destinations()
            #expect(found.map(\.name) == ["back"] && found.first?.dialect == "v4")
            let query = try #require(found.first?.queries.first)
            #expect(query.query == "Orders?$filter=Open" && query.refreshMinutes == 15 && !query.hasStreams)
            lab.wire.breakRequests(.noNetwork)
            #expect(try await session.destinations() == found)
            #expect(session.serviceRoot(ofDestination: "back") == lab.url + "/m/v1/shop/d/back/")
        }
    }

    @Test("An app that sends nothing asks for its policies each hour")
    func hourly() async throws {
        try await MobileLab.run { lab in
            let session = try await Self.onboard(lab)
            let id = try #require(session.registration.id)
            let watch = Task { await session.watch() }
            #expect(try await eventually { lab.clock.sleeping == 1 })
            try await lab.lock(.locked, id)
            lab.clock.advance(by: 3600)
            #expect(try await eventually { await session.lockReason == .order })
            #expect(try await eventually { lab.clock.sleeping == 1 })
            watch.cancel()
            await watch.value
        }
    }

    // MARK: The limit of working offline

    @Test("A device that is offline for too long is locked until it has contact, then wiped")
    func offlineLimit() async throws {
        try await MobileLab.run {
            $0.policies.lock.offlineDays = 2
            $0.policies.lock.wipeOfflineDays = 5
        } _: { lab in
            let session = try await Self.onboard(lab)
            lab.wire.breakRequests(.noNetwork)
            lab.clock.advance(by: 86_400)
            try await session.enforceOfflineLimit()
            lab.clock.advance(by: 86_500)
            await #expect(throws: MobileError.locked(.offlineLimit)) { try await session.enforceOfflineLimit() }
            await #expect(throws: MobileError.self) { try await session.unlock(nil) }
            #expect(await session.lockReason == .offlineLimit)
            lab.wire.mend()
            try await session.unlock(nil)
            #expect(await session.lockReason == nil)
            lab.wire.breakRequests(.noNetwork)
            lab.clock.advance(by: 5 * 86_400 + 1)
            await #expect(throws: MobileError.wiped) { try await session.enforceOfflineLimit() }
            #expect(try lab.bytesOnDevice().isEmpty)
        }
    }

    @Test("A clock that is set back does not extend the limit, nor does a restart of the device")
    func clockSetBack() {
        let clock = VirtualClock()
        var time = OfflineTime(at: clock.clock)
        clock.advance(by: 1000)
        clock.setWall(by: -500_000)
        #expect(time.observe(clock.clock) == 1000)
        clock.advance(by: 1000)
        #expect(time.observe(clock.clock) == 2000)
        // A wall clock that runs ahead counts only across a restart.
        clock.setWall(by: 500_000)
        #expect(time.observe(clock.clock) == 2000)
        clock.restart(after: 0, wall: 10_000)
        #expect(time.observe(clock.clock) == 12_000)
        // Switched off, and the clock set back meanwhile: the measured time stays.
        clock.restart(after: 0, wall: -1_000_000)
        #expect(time.observe(clock.clock) >= 12_000)
        clock.advance(by: 100)
        #expect(time.observe(clock.clock) >= 12_100)
    }

    @Test(
        "Days without contact lead to a demand",
        arguments: [
            (0, 0, 100.0, "none"), (3, 0, 2.9, "none"), (3, 0, 3.1, "lock"), (3, 9, 8.9, "lock"), (3, 9, 9.1, "wipe"),
            (0, 9, 9.1, "wipe"),
        ])
    func demands(lock: Int, wipe: Int, days: Double, demand: String) {
        let limit = PolicySnapshot.OfflineLimit(lockDays: lock, wipeDays: wipe)
        #expect(OfflineTime.demand(limit, after: days * 86_400).rawValue == demand)
    }
}

enum ServiceRootForTest {
    static func request(_ url: String) throws -> HTTPRequest { try ServiceRoot("/").request(.get, url: url) }
}
