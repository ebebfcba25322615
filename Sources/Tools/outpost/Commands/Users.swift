import ArgumentParser
import Foundation
import Secrets
import ToolLanguage

struct UsersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: translated("Keep the file of users that outpost serve --auth reads."),
        discussion: translated(
            paragraphs: """
                The file has a line 'name:$scrypt$…' for each user. It contains a digest of the password (scrypt, in \
                the PHC string format), and never the password. Only its owner can read it. A running service reads it \
                again on SIGHUP: kill -HUP PID, or systemctl reload outpost-serve.

                EXAMPLE
                  outpost users add users.txt ann
                  outpost users list users.txt
                  outpost users remove users.txt ann
                  outpost serve northwind.db --auth users.txt --tls server.pem
                """),
        subcommands: [AddUser.self, ListUsers.self, RemoveUser.self])
}

struct AddUser: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: translated("Add a user, or give a user a new password."),
        discussion: translated(
            paragraphs: """
                The password is asked for. Without a terminal it is the first line of the input, or of --password-file.

                A check of the password takes about 50 ms and 16 MiB of memory (scrypt, N = 2^14, r = 8, p = 1). A \
                running service checks a password once. With --strong a check takes six times as long and 32 MiB (N = \
                2^15, r = 8, p = 3). So does each guess with a stolen file.
                """))

    @Argument(help: .text("The file of users; it is made if it is not there."), completion: .file())
    var file: String

    @Argument(help: .text("The name of the user."))
    var name: String

    @Option(
        name: .customLong("password-file"),
        help: .text("The file with the password.", valueName: "file"), completion: .file())
    var passwordFile: String?

    @Flag(help: .text("Make each guess from a stolen file cost more, and the first sign-in slower."))
    var strong = false

    @Flag(help: .text("Report as JSON."))
    var json = false

    /// The default cost, which scrypt's author recommends for sign-ins (RFC 7914, 2, and its reference 1): below
    /// 100 ms.
    private static let signInCost = try? ScryptParameters(costExponent: 14, blockSize: 8, parallelization: 1)

    private struct Report: Encodable {
        var file: String
        var user: String
        var isNew: Bool
    }

    func run() throws {
        try UsersFile.check(name)
        // An unusable file is reported before a password is typed.
        if FileManager.default.fileExists(atPath: file) { _ = try UsersFile(path: file) }
        let password = try password()
        let hash: PasswordHash
        do throws(PasswordHashError) {
            hash = try PasswordHash(of: password, parameters: strong ? nil : Self.signInCost)
        } catch {
            throw Failure(message: "The password cannot be taken: \(error).", status: .misused)
        }
        var isNew = false
        try UsersFile.change(file) { isNew = $0.set(name, hash) }
        if json { return print(JSONText(Report(file: file, user: name, isNew: isNew)).text) }
        print(isNew ? "\(name) was added to \(file)." : "\(name) has a new password in \(file).")
    }

    private func password() throws -> String {
        if let passwordFile { return try NamedFile.password(in: passwordFile) }
        if let password = try Terminal.askSecret("Password of \(name): ") {
            guard try Terminal.askSecret("Once more: ") == password else {
                throw Failure(message: "The two passwords differ.", status: .misused)
            }
            return password
        }
        guard let line = readLine(), !line.isEmpty else {
            throw Failure(
                message: "There is no password in the input.",
                advice: "Give a file that holds it: --password-file FILE",
                status: .misused)
        }
        return line
    }
}

struct ListUsers: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: translated("List the names of all users."))

    @Argument(help: .text("The file of users."), completion: .file())
    var file: String

    @Flag(help: .text("Print the names as a JSON array."))
    var json = false

    func run() throws {
        let names = try UsersFile(path: file).names
        if json { return print(JSONText(names).text) }
        for name in names { print(name) }
    }
}

struct RemoveUser: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: translated("Remove a user."))

    @Argument(help: .text("The file of users."), completion: .file())
    var file: String

    @Argument(help: .text("The name of the user."))
    var name: String

    @Flag(help: .text("Report as JSON."))
    var json = false

    private struct Report: Encodable {
        var file: String
        var removed: String
    }

    func run() throws {
        guard FileManager.default.fileExists(atPath: file) else {
            throw Failure(message: "\(file) does not exist.", status: .misused)
        }
        var wasThere = false
        try UsersFile.change(file) { wasThere = $0.remove(name) }
        guard wasThere else {
            throw Failure(
                message: "\(file) has no user \(name).",
                advice: "See which there are: outpost users list \(file.shellQuoted)")
        }
        if json { return print(JSONText(Report(file: file, removed: name)).text) }
        print("\(name) was removed from \(file).")
    }
}
