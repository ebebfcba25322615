import Foundation

// Usage: Soak SECONDS, or Soak --rounds COUNT. The program works on two stores for the given length. It exits
// with 1 if resources grew or both sides differ, and with 3 if it was too short to detect growth.
func length(in arguments: [String]) -> Soak.Length? {
    if arguments.count == 2, let seconds = Double(arguments[1]), seconds > 0 { return .seconds(seconds) }
    guard arguments.count == 3, arguments[1] == "--rounds", let rounds = Int(arguments[2]), rounds > 0
    else { return nil }
    return .rounds(rounds)
}
guard let wanted = length(in: CommandLine.arguments) else {
    FileHandle.standardError.write(Data("usage: Soak SECONDS | Soak --rounds COUNT\n".utf8))
    exit(2)
}
let soak = try await Soak()
defer { try? FileManager.default.removeItem(at: soak.directory) }
let totals = try await soak.run(wanted) { line in
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
print(
    "\(totals.rounds) rounds, \(totals.accepted) changes accepted, \(totals.refused) refused, "
        + "\(totals.observed) observed, \(totals.followed) followed:",
    totals.verdict)
let status: Int32 = totals.problems.isEmpty ? (totals.canTell ? 0 : 3) : 1
if status != 0 {
    try? FileManager.default.removeItem(at: soak.directory)
    exit(status)
}
