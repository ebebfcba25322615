import Foundation
import OfflineOData
import Testing

@testable import struct outpost.TransferProgress

@Suite("Progress and interruption")
struct ProgressTests {
    private func text(_ progress: TransferProgress, at time: Double) -> String { progress.text(at: time).description }

    @Test("Rows, per cent, bytes, rate and remaining time are shown")
    func download() {
        var progress = TransferProgress()
        #expect(text(progress, at: 1) == "Connecting … 1 s")
        progress.update(SyncProgress(phase: .downloading, query: "Readings"), at: 1)
        #expect(text(progress, at: 15) == "Downloading Readings: the service prepares the first rows … 15 s")
        for (time, done) in [(2.0, 1000), (3.0, 2000)] {
            let report = SyncProgress(
                phase: .downloading, query: "Readings", done: done, total: 10_000, bytes: Int64(done) * 40)
            progress.update(report, at: time)
        }
        #expect(
            text(progress, at: 3)
                == "Downloading Readings: 2,000 of 10,000 rows (20 %), 80.0 kB, 1,000/s, 8 s left")
        progress.update(SyncProgress(phase: .downloading, query: "Others", done: 500, bytes: 90_000), at: 4)
        #expect(text(progress, at: 4).hasPrefix("Downloading 2 queries: 2,500 rows, 90.0 kB"))
    }

    @Test("After a resume, kept rows count for the total but not for the rate")
    func resumed() {
        var progress = TransferProgress(kept: ["Readings": 5000])
        progress.update(SyncProgress(phase: .downloading, query: "Readings", done: 0, total: 10_000), at: 0)
        progress.update(SyncProgress(phase: .downloading, query: "Readings", done: 500, total: 10_000), at: 1)
        #expect(text(progress, at: 1) == "Downloading Readings: 5,500 of 10,000 rows (55 %), 500/s, 9 s left")
    }

    @Test("A remaining time is rough", arguments: [(0.2, "1 s"), (59, "59 s"), (150, "3 min"), (9000, "3 h")])
    func duration(seconds: Double, text: String) {
        let shown = TransferProgress.duration(seconds).description
        #expect(shown == text || seconds == 150 && shown == "2 min")
    }

    @Test(
        "Ctrl-C in a download shows the kept rows and the next command, and a resume continues the count",
        arguments: [(12, 400), (200, 25)])
    func interrupted(pages: Int, milliseconds: Int) async throws {
        let site = try Site()
        let service = PagedService(pages: pages, rows: 50, delay: .milliseconds(milliseconds))
        let total = pages * 50
        try await service.serving { url in
            let clone = site.path("clone")
            let terminal = try PseudoTerminal()
            let cut = try await site.tool.run("clone", url, clone, at: terminal) { process in
                try await service.waitForPage(4)
                kill(process.processIdentifier, SIGINT)
            }
            #expect(cut.code == SIGINT || cut.code == 130, "\(cut.code) \(cut.errors)")
            let notice = /(?<rows>[\d,]+) rows of Things are kept\. Go on with: outpost pull/
            let said = try #require(cut.errors.firstMatch(of: notice))
            let kept = try #require(Int(said.rows.replacing(",", with: "")))
            #expect(kept >= 50 && kept < total, "\(cut.errors)")
            let status = try await site.tool.run("status", clone, "--json")
            #expect(status.output.contains("\"rows\" : \(kept)"), "\(status.output)")
            let rest = try PseudoTerminal()
            let pulled = try await site.tool.run("pull", clone, at: rest)
            #expect(pulled.code == 0, "\(pulled.errors)")
            let counts = pulled.errors.matches(of: /Downloading Things: ([\d,]+) of [\d,]+ rows/).compactMap {
                Int($0.1.replacing(",", with: ""))
            }
            #expect(!counts.isEmpty && counts.allSatisfy { $0 >= kept && $0 <= total }, "\(pulled.errors)")
            let count = try await site.tool.run("query", clone, "Things/$count")
            #expect(count.output == "\(total)\n", "\(count.output)")
        }
    }

    @Test("Progress is not written into a pipe")
    func piped() async throws {
        let site = try Site()
        let service = PagedService(pages: 3, rows: 50, delay: .milliseconds(600))
        try await service.serving { url in
            let cloned = try await site.tool.run("clone", url, site.path("clone"))
            #expect(cloned.code == 0 && cloned.errors.isEmpty, "\(cloned.errors)")
        }
    }

    @Test("Room is estimated from the first rows, and --anyway ignores the estimate")
    func room() async throws {
        let site = try Site()
        let values = try FileManager.default.attributesOfFileSystem(forPath: site.directory.path)
        let free = try #require(values[.systemFreeSize] as? NSNumber).int64Value
        // A kilobyte for each row would not fit, and the small rows of this service do.
        let fitting = PagedService(pages: 1, rows: 10, count: free / 500)
        try await fitting.serving { url in
            let cloned = try await site.tool.run("clone", url, site.path("fits"), "--all")
            #expect(cloned.code == 0, "\(cloned.errors)")
        }
        let huge = PagedService(pages: 1, rows: 10, count: free)
        try await huge.serving { url in
            let refused = try await site.tool.run("clone", url, site.path("huge"), "--all")
            #expect(refused.code == 1 && refused.errors.contains("--anyway"), "\(refused.errors)")
            let cloned = try await site.tool.run("clone", url, site.path("huge"), "--all", "--anyway")
            #expect(cloned.code == 0, "\(cloned.errors)")
        }
    }
}
