// Downloads, refreshes and uploads, beside a bare prepared statement that inserts the same rows:
//
//     SyncBenchmarks [--quick] [--only download|delta|refresh|upload|observe|nine|http]
//     SyncBenchmarks --growth ROWS        one line of JSON with the figures of a store of so many rows
//
// Processor time of this process. Another process renders the service's pages before; its answers to changes are
// part of the time of uploads. With --quick a tenth of the rows and changes.
import Foundation
import Measuring

let arguments = Array(CommandLine.arguments.dropFirst())
let folder = NSTemporaryDirectory() + "sync-bench-\(getpid())"
do {
    switch arguments.first {
    case "--render" where arguments.count == 3:
        try RenderedService.render(Int(arguments[1]) ?? 0, into: arguments[2])
        exit(0)
    case "--bare" where arguments.count == 3:
        print(try BareTable(path: arguments[2]).insert(Int(arguments[1]) ?? 0, atOnce: RenderedService.pageSize))
        exit(0)
    case "--make", "--synchronise":
        try await NineStores.work(Array(arguments.dropFirst()), isMaking: arguments.first == "--make")
        exit(0)
    case "--serve" where arguments.count == 2: try await TableServer.run(arguments[1])
    default: break
    }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    if arguments.first == "--growth", let rows = arguments.last.flatMap({ Int($0) }) {
        print(try await Growth(rows: rows, folder: folder).json())
    } else {
        let isQuick = arguments.contains("--quick")
        let only = arguments.firstIndex(of: "--only").map { arguments[$0 + 1] }
        try await Report(isQuick: isQuick, only: only, folder: folder).run()
    }
} catch {
    FileHandle.standardError.write(Data("SyncBenchmarks: \(error)\n".utf8))
    try? FileManager.default.removeItem(atPath: folder)
    exit(1)
}
