import Testing

@testable import MobileClient

/// The nine sequences of states that apps of the older products rely on (`mobile-client.md` 3).
@Suite("Sequences of a registration") struct RegistrationSequenceTests {
    /// A line of the table.
    struct Line: CustomTestStringConvertible, Sendable {
        var trigger: String
        /// Brings the device into the state before the trigger.
        var before: @Sendable (RegistrationLab, MobileLab) async throws -> Void = { _, _ in }
        var act: @Sendable (RegistrationLab, MobileLab) async throws -> Void
        var sequence: String

        var testDescription: String { trigger }
    }

    private static let registered: @Sendable (RegistrationLab, MobileLab) async throws -> Void = {
        device, _ async throws in
        try await device.registration.register()
        #expect(device.registration.state == .registered)
    }

    private static let stopped: @Sendable (RegistrationLab, MobileLab) async throws -> Void = {
        device, lab async throws in
        try await registered(device, lab)
        await device.registration.stop()
    }

    static let table = [
        Line(
            trigger: "register, network", act: { device, _ async throws in try await device.registration.register() },
            sequence: "R202 C102 C103 R203"),
        Line(
            trigger: "register, no network before the first byte",
            act: { device, lab async throws in
                lab.wire.breakRequests(.noNetwork)
                await #expect(throws: MobileError.self) { try await device.registration.register() }
            }, sequence: "R202 R201"),
        Line(
            trigger: "register, connection lost before connected",
            act: { device, lab async throws in
                lab.wire.breakRequests(.lostAnswer, to: "POST")
                await #expect(throws: MobileError.self) { try await device.registration.register() }
            }, sequence: "R202 C102 C101"),
        Line(
            trigger: "start, network", before: stopped,
            act: { device, _ async throws in try await device.registration.start() }, sequence: "C102 C103"),
        Line(
            trigger: "start, no network", before: stopped,
            act: { device, lab async throws in
                lab.wire.breakRequests(.noNetwork)
                await #expect(throws: MobileError.self) { try await device.registration.start() }
            }, sequence: "C102 C101"),
        Line(
            trigger: "connected, later loss, and the network returns", before: registered,
            act: { device, lab async throws in
                lab.wire.breakRequests(.lostRequest, to: "Settings", times: 1)
                await #expect(throws: MobileError.self) { try await device.settings.refresh() }
                #expect(try await eventually { device.registration.connection == .error && lab.clock.sleeping > 0 })
                await device.registration.networkReturned()
            }, sequence: "C101 C102 C103"),
        Line(
            trigger: "connected in the background, later loss, and a notification", before: registered,
            act: { device, lab async throws in
                await device.registration.waitForNotifications(true)
                lab.wire.breakRequests(.lostRequest, to: "Settings", times: 1)
                await #expect(throws: MobileError.self) { try await device.settings.refresh() }
                #expect(try await eventually { device.registration.connection == .waitingForNotification })
                await device.registration.waitForNotifications(false)
                #expect(try await eventually { lab.clock.sleeping > 0 })
                lab.clock.advance(by: 2)
            }, sequence: "C106 C102 C103"),
        Line(
            trigger: "stop", before: registered, act: { device, _ async throws in await device.registration.stop() },
            sequence: "C104 C105"),
        Line(
            trigger: "unregister, network", before: registered,
            act: { device, _ async throws in try await device.registration.unregister() },
            sequence: "C104 C105 R204 R205"),
        Line(
            trigger: "unregister, no network", before: registered,
            act: { device, lab async throws in
                lab.wire.breakRequests(.noNetwork)
                await #expect(throws: MobileError.self) { try await device.registration.unregister() }
            }, sequence: "C104 C105 R204 R201"),
    ]

    @Test("Each trigger leads to the states that apps know", arguments: table)
    func sequences(_ line: Line) async throws {
        try await MobileLab.run { lab in
            let device = try await RegistrationLab(lab)
            try await line.before(device, lab)
            // The events of the state before belong to no line.
            try await device.clear()
            try await line.act(device, lab)
            #expect(try await device.sequence(expecting: line.sequence) == line.sequence)
        }
    }
}
