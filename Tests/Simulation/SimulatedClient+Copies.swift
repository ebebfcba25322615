import EncryptedSQLite
import FaultInjection
import Foundation
import ODataHTTP
import ODataQuery
import ODataService
import OfflineOData

/// A way of restoring a store to an earlier state.
enum PutBack: CaseIterable {
    /// Its files are restored from a backup and are new files.
    case otherFile
    /// Only the content of its files is restored; the files stay the same.
    case sameFile
    /// The whole machine is restored, including the notes that identify copies.
    case machine
}

/// Copies of a store, and restoring of earlier states.
extension SimulatedClient {
    /// A state to which the store can be restored.
    struct Backup {
        let store: String
        let notes: String
        let fileNumber: Int
        /// The number of the newest change at the time of the backup.
        let newest: Int
        let time: Double
    }

    /// The folder in which the device keeps notes about its stores.
    var notesFolder: String { "\(directory)/notes-\(number)" }

    var hasBackup: Bool { backup != nil }

    private static func copy(_ path: String, to other: String) throws {
        try? FileManager.default.removeItem(atPath: other)
        guard FileManager.default.fileExists(atPath: path) else { return }
        try FileManager.default.copyItem(atPath: path, toPath: other)
        // A copy does not contain the memory of a process.
        try? FileManager.default.removeItem(atPath: other + "/store.db-shm")
    }

    /// Backs up the current files during any operation, unless the disk is broken.
    func backUp() -> String {
        guard let disk, !disk.isBroken else { return "not, for its disk" }
        let (files, notes) = ("\(directory)/backup-\(number)", "\(directory)/backup-notes-\(number)")
        do {
            try Self.copy(folder, to: files)
            try Self.copy(notesFolder, to: notes)
        } catch {
            backup = nil
            return "not: \(type(of: error))"
        }
        backup = Backup(store: files, notes: notes, fileNumber: fileNumber, newest: ledger.newest, time: time.now)
        return "done"
    }

    /// Restores the files between two lives of the client.
    func putBack(_ how: PutBack) throws {
        guard let backup else { return }
        try Self.copy(backup.store, to: folder)
        switch how {
        case .otherFile: fileNumber += 1
        case .sameFile: break
        case .machine:
            try Self.copy(backup.notes, to: notesFolder)
            fileNumber = backup.fileNumber
        }
        ledger.putBack(number, to: backup.newest)
        forgetQueue()
        unknownSince = how == .machine ? backup.time : nil
        wasPutBack = true
    }

    /// Records that the pending changes of a restored store may have been sent before.
    func notePutBack(_ store: OfflineStore) async throws {
        guard wasPutBack else { return }
        wasPutBack = false
        for request in try await queued(store) {
            ledger.note(Self.mark(of: request), of: number) {
                $0.wasPutBack = true
                if let unknownSince { $0.unknownSince = min($0.unknownSince ?? unknownSince, unknownSince) }
            }
        }
    }

    /// Copies the store, lets the copy send its queue, and deletes the copy.
    ///
    /// - Returns: The result, for the trace.
    func sendFromCopy(_ halts: AsyncStream<Halt>.Continuation) async -> String {
        guard store != nil, let disk, !disk.isBroken else { return "no copy" }
        copies += 1
        let path = "\(directory)/copy-\(number)-\(copies)"
        defer {
            try? EncryptedDatabase.lock(at: path + "/store.db")
            try? FileManager.default.removeItem(atPath: path)
        }
        do {
            try Self.copy(folder, to: path)
            let copiedDisk = try FaultDisk(folder: path)
            defer { withExtendedLifetime(copiedDisk) {} }
            let (wire, format) = (SimulatedWire(halts), batchFormat)
            let copy = try await OfflineStore.open(
                at: path, protection: .encrypted(.key(key)), options: options(file: 1000 + copies),
                connect: { _, _ in try Self.client(wire, speaking: nil, format) })
            defer { try? copy.close() }
            let (status, now) = (try await copy.observe.status(), time.now)
            for request in status.pending where status.hold == nil {
                ledger.note(Self.mark(of: request), of: number) {
                    $0.wasPutBack = true
                    $0.unknownSince = $0.unknownSince ?? now
                }
            }
            var options = plainOptions()
            options.foldsRequests = folds
            let report = try await copy.upload(options: options)
            return "copy sent \(report.accepted.count)"
        } catch OfflineError.queueHeld {
            return "copy is held"
        } catch {
            return "copy: \(type(of: error))"
        }
    }

    /// Decides about held changes like a careful person: changes that the service has already executed are
    /// undone.
    ///
    /// - Returns: Whether there are changes to send from a copy.
    func decideAboutHeld(_ store: OfflineStore) async throws -> Bool {
        guard try await store.changes.hold() != nil else { return false }
        var left: Set<Int64> = []
        while true {
            let all = try await queued(store)
            var made: QueuedRequest?
            for request in all where made == nil && request.state == .pending && !left.contains(request.id) {
                if try await service.act(Self.mark(of: request)).count > 0 { made = request }
            }
            guard let made else { return true }
            left.insert(made.id)
            for request in Self.goingWith([made], of: all, changeSets) {
                if try await service.act(Self.mark(of: request)).count == 0 { giveUp([request]) }
            }
            do {
                try await store.changes.undo([try ODataURL(parsing: made.entityText)], withAllOthers: true)
            } catch {
                // A part of the change has been sent, so the person lets it be executed again.
                ledger.note(Self.mark(of: made), of: number) { $0.wasForced = true }
            }
        }
    }
}
