import ArgumentParser
import Foundation
import MobileServer
import ServerState
import ToolLanguage

struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract: translated("List, lock, wipe and disconnect registrations."),
        discussion: translated(
            paragraphs: """
                EXAMPLE
                  outpost-server device list shop
                  outpost-server device wipe shop 0b7e6c1a --yes
                  outpost-server device activation-code shop ann
                """),
        subcommands: [
            ListDevices.self, ShowDevice.self, LockDevice.self, UnlockDevice.self, WipeDevice.self,
            DisconnectDevice.self, ActivationCodeCommand.self,
        ])

    /// The greatest number of devices that one operator wipes alone.
    static let wipeLimit = 10

    struct Row: Encodable {
        var id: String
        var user: Int64
        var state: Int
        var lock: String
        var isLockConfirmed: Bool
        var deviceType: String?
        var appVersion: String?
        var seenAt: Date?

        init(_ record: RegistrationRecord) {
            id = record.id
            user = record.user
            state = record.state.rawValue
            lock = record.lock.rawValue
            isLockConfirmed = record.isLockConfirmed
            deviceType = record.device.deviceType
            appVersion = record.device.appVersion
            seenAt = record.seenAt?.date
        }
    }

    struct ListDevices: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: translated("List registrations."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server device list shop --json
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The application."))
        var app: String

        func run() async throws {
            let rows = try await options.withServer { server in
                let application = try await server.application(app)
                var rows: [Row] = []
                while true {
                    let page = try await server.state.registrations.registrations(
                        RegistrationFilter(application: application.id, after: rows.last?.id))
                    rows += page.map(Row.init)
                    if page.count < 1000 { return rows }
                }
            }
            if options.json { return Console.json(rows) }
            Console.table(
                ["ID", "USER", "STATE", "LOCK", "SEEN"],
                rows.map {
                    [
                        $0.id, "\($0.user)", "\($0.state)", $0.lock,
                        $0.seenAt?.formatted(.iso8601) ?? translated("never"),
                    ]
                })
        }
    }

    struct ShowDevice: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: translated("Show a registration with its settings."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server device show shop 0b7e6c1a
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The application."))
        var app: String

        @Argument(help: .text("The identifier of the registration."))
        var id: String

        func run() async throws {
            let report = try await options.withServer { server in
                let (application, record) = try await server.registration(id, app)
                let settings = try await server.state.registrations.settings(of: id, of: application.id)
                return Report(
                    registration: Row(record),
                    settings: settings.map { Setting(name: $0.name, value: $0.value, isReadOnly: $0.isReadOnly) })
            }
            if options.json { return Console.json(report) }
            Console.line(
                "\(report.registration.id): state \(report.registration.state), lock \(report.registration.lock)")
            Console.table(
                ["SETTING", "VALUE", "READ-ONLY"],
                report.settings.map { [$0.name, $0.value ?? "", $0.isReadOnly ? translated("yes") : translated("no")] })
        }

        struct Setting: Encodable {
            var name: String
            var value: String?
            var isReadOnly: Bool
        }

        struct Report: Encodable {
            var registration: Row
            var settings: [Setting]
        }
    }

    struct LockDevice: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "lock", abstract: translated("Lock the app on devices."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server device lock shop 0b7e6c1a
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The application."))
        var app: String

        @Argument(help: .text("The identifiers of the registrations."))
        var ids: [String]

        func run() async throws { try await DeviceCommand.set(.locked, ids, of: app, options: options) }
    }

    struct UnlockDevice: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "unlock", abstract: translated("Unlock the app on devices."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server device unlock shop 0b7e6c1a
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The application."))
        var app: String

        @Argument(help: .text("The identifiers of the registrations."))
        var ids: [String]

        func run() async throws { try await DeviceCommand.set(DeviceLock.none, ids, of: app, options: options) }
    }

    struct WipeDevice: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "wipe", abstract: translated("Tell devices to erase the data of the app."),
            discussion: translated(
                paragraphs: """
                    A wipe of more than ten devices needs a second operator, and is requested at the operators' API.

                    EXAMPLE
                      outpost-server device wipe shop 0b7e6c1a --yes
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The application."))
        var app: String

        @Argument(help: .text("The identifiers of the registrations."))
        var ids: [String]

        @Flag(help: .text("Do it without asking."))
        var yes = false

        func run() async throws {
            guard yes else {
                throw ServerFailure("A wipe erases pending changes.", advice: "Add --yes.", status: .misused)
            }
            guard Set(ids).count <= DeviceCommand.wipeLimit else {
                throw ServerFailure(
                    "A wipe of more than \(DeviceCommand.wipeLimit) devices needs a second operator.",
                    advice: "Request it at the operators' API.")
            }
            try await DeviceCommand.set(.wipe, ids, of: app, options: options)
        }
    }

    /// Sets the lock of registrations; those that do not exist are refused.
    static func set(
        _ lock: DeviceLock, _ ids: [String], of app: String, options: ServerOptions
    ) async throws {
        let report = try await options.withServer { server in
            let application = try await server.application(app)
            var (changed, refused): ([Row], [String]) = ([], [])
            for id in ids {
                guard try await server.state.registrations.registration(id, of: application.id) != nil else {
                    refused.append(id)
                    continue
                }
                let confirmation = lock == .wipe ? (0..<32).map { _ in UInt8.random(in: 0...255) } : nil
                let record = try await server.state.registrations.setLock(
                    lock, confirmation: confirmation, registration: id, of: application.id)
                changed.append(Row(record))
                try await server.audit("device.\(lock == .none ? "unlock" : lock.rawValue)", "\(app)/\(id)")
            }
            return Report(changed: changed, refused: refused)
        }
        if options.json {
            Console.json(report)
        } else {
            for row in report.changed { Console.line("\(row.id): \(row.lock), the device has not confirmed yet.") }
            for id in report.refused { Console.error("There is no registration '\(id)'.") }
        }
        guard report.refused.isEmpty else {
            throw ExitCode((report.changed.isEmpty ? ServerExit.failed : .someRefused).rawValue)
        }
    }

    struct Report: Encodable {
        var changed: [Row]
        var refused: [String]
    }

    struct DisconnectDevice: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "disconnect", abstract: translated("End a registration without a wipe."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server device disconnect shop 0b7e6c1a
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The application."))
        var app: String

        @Argument(help: .text("The identifier of the registration."))
        var id: String

        func run() async throws {
            try await options.withServer { server in
                let (application, _) = try await server.registration(id, app)
                try await server.state.registrations.unregister(id, of: application.id, ifMatch: nil)
                try await server.audit("device.disconnect", "\(app)/\(id)")
            }
            if options.json { return Console.json(["disconnected": id]) }
            Console.line("'\(id)' is no longer registered.")
        }
    }

    struct ActivationCodeCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "activation-code", abstract: translated("Make a code with which a user registers one device."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server device activation-code shop ann --hours 48
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The application."))
        var app: String

        @Argument(help: .text("The name with which the user signs in."))
        var user: String

        @Option(help: .text("The hours for which the code is valid."))
        var hours = 72

        mutating func validate() throws {
            guard (1...8760).contains(hours) else {
                throw ValidationError(translated("--hours is a number from 1 to 8760."))
            }
            guard (1...RegistrationLimits.userNameLength).contains(user.count) else {
                throw ValidationError(translated("A name has 1 to \(RegistrationLimits.userNameLength) characters."))
            }
        }

        func run() async throws {
            let code = ActivationCode()
            let end = try await options.withServer { server in
                let application = try await server.application(app)
                let end = try await server.state.now() + .seconds(hours * 3600)
                try await server.state.registrations.addActivation(
                    ActivationRecord(
                        hash: code.digest(key: server.keys.key(.codes).symmetricKey), application: application.id,
                        userName: user, expiresAt: end))
                try await server.audit("device.activation-code", "\(app)/\(user)")
                return end.date
            }
            if options.json {
                return Console.json(["code": code.text, "user": user, "expiresAt": end.formatted(.iso8601)])
            }
            Console.line("\(code.text)   (for '\(user)', until \(end.formatted(.iso8601)))")
        }
    }
}

extension OpenServer {
    /// Returns an application and one of its registrations.
    func registration(_ id: String, _ app: String) async throws -> (ApplicationRecord, RegistrationRecord) {
        let application = try await application(app)
        guard let record = try await state.registrations.registration(id, of: application.id) else {
            throw ServerFailure(
                "'\(app)' has no registration '\(id)'.",
                advice: "List the registrations with 'outpost-server device list \(app)'.")
        }
        return (application, record)
    }
}
