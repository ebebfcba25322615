import ErrorCodes
import Foundation
import Secrets
import Testing

@testable import PostgresClient

@Suite("The configuration of the client for PostgreSQL")
struct ConfigurationTests {
    @Test("No form of a configuration or an error shows the password")
    func secrets() throws {
        let configuration = try PostgresConfiguration(url: "postgres://ann:hunter2@localhost:5433/outpost")
        var text = ""
        dump(configuration, to: &text)
        #expect(!text.contains("hunter2") && !"\(configuration)".contains("hunter2"))
        #expect(configuration.address == "localhost:5433/outpost")
        #expect(configuration.keywords(.point).contains { $0 == ("password", "hunter2") })
        for url in ["postgres://ann:hunter2@[", "postgres://ann:hunter2@h/d?nonsense=1"] {
            let error = #expect(throws: PostgresError.self) { try PostgresConfiguration(url: url) }
            #expect(!"\(String(describing: error))".contains("hunter2"))
        }
    }

    @Test("Another machine is reached with a verified certificate only")
    func certificates() throws {
        let remote = try PostgresConfiguration(url: "postgres://db1,db2/outpost")
        #expect(remote.keywords(.work).contains { $0 == ("sslmode", "verify-full") })
        _ = try PostgresConfiguration(url: "postgres://db1/outpost?sslmode=verify-ca")
        for mode in ["disable", "allow", "prefer", "require"] {
            #expect(throws: PostgresError.self, "\(mode)") {
                try PostgresConfiguration(url: "postgres://db1/outpost?sslmode=\(mode)")
            }
        }
        for local in ["postgres:///outpost", "postgres://127.0.0.1/outpost", "host=/run/postgresql"] {
            _ = try PostgresConfiguration(
                url: local + (local.contains("://") ? "?sslmode=disable" : " sslmode=disable"))
        }
    }

    @Test("A URL may not set the parameters of the client")
    func reserved() {
        for name in ["options=-c%20x=1", "service=x", "replication=database"] {
            #expect(throws: PostgresError.self) { try PostgresConfiguration(url: "postgres://localhost/db?\(name)") }
        }
    }

    @Test("Time limits stand in the connection string, each pool with its own (point 30)")
    func limits() throws {
        let configuration = try PostgresConfiguration(url: "postgres:///outpost")
        func options(_ role: Role) -> String { configuration.keywords(role).first { $0.0 == "options" }?.1 ?? "" }
        #expect(options(.point).contains("statement_timeout=2000") && options(.point).contains("enable_bitmapscan=off"))
        #expect(options(.work).contains("statement_timeout=60000") && !options(.work).contains("bitmapscan"))
        #expect(options(.work).contains("lock_timeout=2000"))
        #expect(options(.work).contains("idle_in_transaction_session_timeout=15000"))
    }

    @Test(
        "Each SQLSTATE has its reaction",
        arguments: [
            ("57P01", PostgresReaction.unknownOutcome), ("57P02", .unknownOutcome), ("08006", .unknownOutcome),
            ("57P03", .backOff), ("25006", .reconnect), ("40001", .repeatTransaction), ("40P01", .repeatTransaction),
            ("55P03", .giveBack), ("53300", .shrinkPool), ("26000", .prepareAgain), ("22021", .report),
            ("22P05", .report), ("23505", .report),
        ])
    func reactions(state: String, reaction: PostgresReaction) {
        #expect(PostgresError.reaction(toState: state) == reaction)
    }

    @Test("The SQLSTATE of a refused connection is read from libpq's message")
    func connecting() {
        let message =
            "port 1 failed: FATAL:  53300: sorry, too many clients already\nLOCATION:  ProcArrayAdd\n"
        guard case .failed(let state, let reason) = Connecting.failure(message) else {
            Issue.record("a failure")
            return
        }
        #expect(state == "53300")
        #expect(reason.hasSuffix("too many clients already"))
    }

    @Test("Every error has a message in English and in German")
    func messages() {
        let errors: [PostgresError] = [
            .unreachable(reason: "r"), .connectionLost(reason: "r"),
            .refused(sqlState: "23505", reason: "r", constraint: nil), .timedOut, .cancelled, .busy(limit: 3),
            .misused(reason: "r"), .unexpectedResult(reason: "r"), .closed,
        ]
        let messages = ErrorMessages.standard.adding(PostgresMessages.table)
        for error in errors {
            for locale in ["en", "de"] {
                let text = messages.message(for: error, locale: locale)
                #expect(
                    !text.contains("{")
                        && PostgresMessages.table.message(error.errorCode.rawValue, locale: locale) != nil)
            }
            #expect(!"\(error)".isEmpty)
        }
    }
}
