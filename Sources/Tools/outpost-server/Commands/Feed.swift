import ArgumentParser
import Foundation
import MobileServer
import Secrets
import ServerState
import ToolLanguage

struct FeedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed",
        abstract: translated("List, refresh, resume and check feeds."),
        discussion: translated(
            paragraphs: """
                EXAMPLE
                  outpost-server feed list shop
                  outpost-server feed resume 3
                """),
        subcommands: [ListFeeds.self, ShowFeed.self, RefreshFeed.self, ResumeFeed.self, CheckShared.self])

    struct ListFeeds: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: translated("List feeds."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server feed list
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The application; by default all."))
        var app: String?

        func run() async throws {
            let feeds = try await options.withFeeds { try await $0.list(application: app) }
            if options.json { return Console.json(feeds) }
            Console.table(
                ["ID", "APPLICATION", "QUERY", "STATE", "ROWS", "CHECKED"],
                feeds.map {
                    [
                        "\($0.id)", $0.application, "\($0.destination)/\($0.query)", $0.state, "\($0.rows)",
                        $0.checkedAt?.formatted(.iso8601) ?? translated("never"),
                    ]
                })
        }
    }

    struct ShowFeed: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: translated("Show a feed."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server feed show 3
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The number of the feed."))
        var id: Int64

        func run() async throws {
            let feed = try await options.withFeeds { try await $0.show(id) }
            if options.json { return Console.json(feed) }
            Console.line("\(feed.destination)/\(feed.query) of \(feed.application): \(feed.state), \(feed.rows) rows")
            if let note = feed.note { Console.line(LibraryText.text(note)) }
        }
    }

    struct RefreshFeed: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "refresh", abstract: translated("Let a running node refresh a feed now."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server feed refresh 3
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The number of the feed."))
        var id: Int64

        func run() async throws {
            try await options.withFeeds { try await $0.refresh(id) }
            if options.json { return Console.json(["refresh": id]) }
            Console.line("A running node refreshes the feed \(id) within a second.")
        }
    }

    struct ResumeFeed: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resume", abstract: translated("Accept the suspicious refresh of a suspended feed."),
            discussion: translated(
                paragraphs: """
                    EXAMPLE
                      outpost-server feed resume 3
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The number of the feed."))
        var id: Int64

        func run() async throws {
            try await options.withFeeds { try await $0.resume(id) }
            if options.json { return Console.json(["resumed": id]) }
            Console.line("The feed \(id) is refreshed again.")
        }
    }

    struct CheckShared: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check-shared", abstract: translated("Compare the rows of two users for a shared feed."),
            discussion: translated(
                paragraphs: """
                    Each file holds the value of Authorization of a user, such as 'Bearer TOKEN'. A difference \
                    suspends the feed: its rows depend on the user.

                    EXAMPLE
                      outpost-server feed check-shared 3 --as ann.txt --as bob.txt
                    """))

        @OptionGroup var options: ServerOptions

        @Argument(help: .text("The number of the feed."))
        var id: Int64

        @Option(
            name: .customLong("as"),
            help: .text("A file with the credentials of a user; twice.", valueName: "file"),
            completion: .file())
        var users: [String] = []

        func run() async throws {
            let resolver = SecretResolver(state: nil, folder: FileManager.default.currentDirectoryPath)
            var credentials: [Secret<String>] = []
            for user in users { credentials.append(try await resolver.value(of: .file(user))) }
            let all = credentials
            let isEqual = try await options.withFeeds { try await $0.checkShared(id, as: all) }
            if options.json {
                Console.json(["isEqual": isEqual])
            } else {
                Console.line(
                    isEqual ? "Both users get the same rows." : "The users get other rows: the feed is suspended.")
            }
            if !isEqual { throw ExitCode(ServerExit.failed.rawValue) }
        }
    }
}

extension ServerOptions {
    /// Gives the operations on feeds to a function.
    func withFeeds<Value>(_ body: (FeedCommands) async throws -> Value) async throws -> Value {
        try await withServer { server in
            let composition = try ServerComposition(server.services())
            do {
                let value = try await body(FeedCommands(destinations: composition.destinations))
                for part in composition.parts.reversed() { await part.stop() }
                return value
            } catch {
                for part in composition.parts.reversed() { await part.stop() }
                throw error
            }
        }
    }
}
