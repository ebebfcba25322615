import CSQLite
import Foundation
import Synchronization

/// A folder that simulates a failing disk. SQLite's operations on its files through the VFS ``vfsName`` are
/// counted and can fail. Unsynced changes are recorded, so that the state after a power failure can be
/// restored.
///
/// ```swift
/// let disk = try FaultDisk(folder: folder)
/// disk.break(.crash(at: 17))
/// try? work(in: folder)
/// try disk.restart(into: otherFolder, with: .sectors(seed: 3))  // open and check the copy
/// ```
///
/// Files that were created without SQLite count as durable. Files in other folders use only SQLite's `unix`
/// VFS. The files of the operating system contain the state that a running program sees; they are never
/// actually synced.
public final class FaultDisk: Sendable {
    /// The name of the VFS; see also ``register()``.
    public static let vfsName = "outpost-faults"

    /// The path of the folder, without symbolic links.
    public let folder: String
    private let state = Mutex(State())

    private struct State {
        var files: [String: DiskFile] = [:]
        var operations = 0
        var fault: Fault?
        /// Whether the current fault has occurred.
        var hasFired = false
        /// The faults that have occurred.
        var fired: [Fault] = []
        var isOver = false

        /// Whether the power fails at the current operation.
        var powerFails: Bool {
            switch fault {
            case .crash(let number)?, .lyingSync(_, let number)?: operations >= number
            default: false
            }
        }

        /// Records a lasting fault once.
        mutating func fire() {
            guard !hasFired, let fault else { return }
            hasFired = true
            fired.append(fault)
        }

        /// Simulates the power failure.
        mutating func end() {
            isOver = true
            fire()
        }

        /// Records the current fault, which occurs only once, and ends it.
        mutating func endFault() {
            fire()
            fault = nil
        }
    }

    /// The recorded state of one file.
    struct DiskFile {
        /// The content that certainly remains after a power failure; `nil` if even the name is not durable.
        var durable: [UInt8]?
        /// The changes since then, in order.
        var changes: [Change] = []
        /// The number of initial changes that a failed sync has lost. Programs see them, but no later sync
        /// makes them durable, because the system considers them written.
        var lostCount = 0

        /// Whether the name of the file is not durable yet.
        var isNew: Bool { durable == nil || lastDeletion != nil }

        private var lastDeletion: Int? {
            changes.lastIndex { if case .delete = $0 { true } else { false } }
        }

        /// Makes the last deletion durable.
        mutating func deleteDurably() {
            guard let last = lastDeletion else { return }
            durable = nil
            changes.removeFirst(last + 1)
            lostCount = max(0, lostCount - last - 1)
        }

        /// Makes all changes durable that a failed sync has not lost.
        mutating func sync() {
            for (number, change) in changes.enumerated() {
                if number < lostCount, case .write = change { continue }
                FaultDisk.apply(change, to: &durable) { _ in true }
            }
            changes = []
            lostCount = 0
        }
    }

    enum Change {
        case write(offset: Int, bytes: [UInt8])
        case truncate(Int)
        case delete
    }

    /// - Parameter folder: An existing folder.
    /// - Throws: ``FaultDiskError`` if the VFS cannot be registered.
    public init(folder: String) throws {
        guard Self.register() == SQLITE_OK else { throw FaultDiskError.noVFS }
        self.folder = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
        FaultVFS.disks.withLock { [self] in $0[self.folder] = WeakDisk(disk: self) }
    }

    deinit {
        let folder = folder
        FaultVFS.disks.withLock { _ = $0.removeValue(forKey: folder) }
    }

    /// Registers the VFS, which forwards to SQLite's `unix` VFS for all other folders.
    @discardableResult
    public static func register() -> Int32 { FaultVFS.registration }

    /// Activates a fault. The count of operations continues.
    public func `break`(_ fault: Fault) {
        state.withLock { state in
            state.fault = fault
            state.hasFired = false
        }
    }

    /// Removes the fault. A crashed disk stays crashed until it is restarted.
    public func mend() { state.withLock { $0.fault = nil } }

    /// The number of operations so far.
    public var operations: Int { state.withLock { $0.operations } }

    /// The faults that have occurred, in order, each one once.
    public var fired: [Fault] { state.withLock { $0.fired } }

    /// Whether a fault is active or the power has failed.
    public var isBroken: Bool { state.withLock { $0.isOver || $0.fault != nil } }

    /// Whether the power has failed.
    public var isOver: Bool { state.withLock { $0.isOver } }

    // MARK: Calls from the VFS

    /// The result of an operation.
    enum Verdict {
        case goes
        /// A half-done write, or a sync without effect, with a result code.
        case half(Int32)
        case fails(Int32)
        /// A sync that reports success without effect.
        case lies
    }

    func opened(_ path: String) {
        state.withLock { state in
            guard state.files[path] == nil else { return }
            let content = FileManager.default.contents(atPath: path).map { [UInt8]($0) }
            // SQLite has just created an empty file, so nothing of it is durable.
            state.files[path] = DiskFile(durable: content?.isEmpty == false ? content : nil)
        }
    }

    /// Returns the result of a write. `grows` states whether the file becomes longer.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int, of path: String, grows: Bool) -> Verdict {
        state.withLock { state in
            guard !state.isOver else { return .fails(SQLITE_IOERR) }
            state.operations += 1
            var verdict = Verdict.goes
            switch state.fault {
            case _ where state.powerFails:
                state.end()
                verdict = .fails(SQLITE_IOERR)
            case .shortWrite(let number)? where state.operations >= number:
                state.endFault()
                verdict = .half(SQLITE_FULL)
            case .diskFull(let number)? where state.operations >= number && grows:
                state.fire()
                return .fails(SQLITE_FULL)
            default: break
            }
            let kept = if case .half = verdict { bytes.count / 2 } else { bytes.count }
            let copy = [UInt8](UnsafeRawBufferPointer(rebasing: bytes[..<kept]))
            state.files[path, default: DiskFile()].changes.append(.write(offset: offset, bytes: copy))
            return verdict
        }
    }

    /// Returns the result of a truncation or deletion, which is durable immediately if the folder is synced
    /// too.
    func change(_ change: Change, of path: String, isDurable: Bool = false) -> Verdict {
        state.withLock { state in
            guard !state.isOver else { return .fails(SQLITE_IOERR) }
            state.operations += 1
            if state.powerFails {
                state.end()
                state.files[path, default: DiskFile()].changes.append(change)
                return .fails(SQLITE_IOERR)
            }
            if isDurable {
                state.files[path] = DiskFile()
            } else {
                state.files[path, default: DiskFile()].changes.append(change)
            }
            return .goes
        }
    }

    func sync(_ path: String) -> Verdict {
        state.withLock { state in
            guard !state.isOver else { return .fails(SQLITE_IOERR) }
            state.operations += 1
            switch state.fault {
            case _ where state.powerFails:
                state.end()
                return .fails(SQLITE_IOERR)
            case .failedSync(let number)? where state.operations >= number:
                state.endFault()
                // The system considers unwritten changes clean, and no later sync writes them.
                if let count = state.files[path]?.changes.count { state.files[path]?.lostCount = count }
                return .fails(SQLITE_IOERR | 4 << 8)  // SQLITE_IOERR_FSYNC
            case .lyingSync(let number, _)? where state.operations >= number:
                state.fire()
                return .lies
            default:
                var file = state.files[path] ?? DiskFile()
                if file.isNew, path.hasSuffix("-wal") || path.hasSuffix("-journal") {
                    // SQLite syncs the folder with the first sync of a log or journal, which also makes
                    // deletions in it durable.
                    for name in state.files.keys where name != path { state.files[name]?.deleteDurably() }
                }
                // Removing the entry leaves a single reference to the bytes, so they are changed in place.
                state.files[path] = nil
                file.sync()
                state.files[path] = file
                return .goes
            }
        }
    }

    // MARK: After a power failure

    /// Writes the state of the files after a power failure to another folder.
    ///
    /// The index of a log in shared memory (`-shm`) is lost. Files that SQLite never opened are copied.
    ///
    /// - Parameters:
    ///   - target: A folder, which is created if it is missing.
    ///   - remains: The unsynced changes that remain.
    public func restart(into target: String, with remains: Remains) throws {
        let files = state.withLock { $0.files }
        let manager = FileManager.default
        try manager.createDirectory(atPath: target, withIntermediateDirectories: true)
        var numbers = SeededNumbers(seed: 0)
        if case .sectors(let seed) = remains { numbers = SeededNumbers(seed: seed) }
        func isKept(_ sector: Int) -> Bool {
            switch remains {
            case .nothing: false
            case .everything: true
            case .sectors: numbers.next() & 1 == 0
            }
        }
        for (path, file) in files.sorted(by: { $0.key < $1.key }) {
            var content = file.durable
            for change in file.changes {
                // Writes after a deletion went to another file with the same name. If the deletion is undone,
                // the old file exists and the new one is lost.
                if case .delete = change, !isKept(0) { break }
                Self.apply(change, to: &content, where: isKept)
            }
            guard let content else { continue }
            let name = String(path.dropFirst(folder.count))
            try manager.createDirectory(
                atPath: (target + name as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            try Data(content).write(to: URL(fileURLWithPath: target + name))
        }
        let others = manager.enumerator(atPath: folder)
        while let name = others?.nextObject() as? String {
            let path = folder + "/" + name
            var isFolder: ObjCBool = false
            guard files[path] == nil, !name.hasSuffix("-shm"), manager.fileExists(atPath: path, isDirectory: &isFolder)
            else { continue }
            if isFolder.boolValue {
                try manager.createDirectory(atPath: target + "/" + name, withIntermediateDirectories: true)
            } else {
                try manager.copyItem(atPath: path, toPath: target + "/" + name)
            }
        }
    }

    /// Applies a change to the content, in the sectors of 512 bytes that `isKept` selects.
    fileprivate static func apply(_ change: Change, to content: inout [UInt8]?, where isKept: (Int) -> Bool) {
        switch change {
        case .delete: content = nil
        case .truncate(let size):
            guard isKept(0), let old = content else { return }
            content = Array(old.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - old.count))
        case .write(let offset, let bytes):
            let wasThere = content != nil
            var grown = content ?? []
            var isChanged = false
            content = nil
            var start = offset
            while start < offset + bytes.count {
                let end = min((start / 512 + 1) * 512, offset + bytes.count)
                if isKept(start / 512) {
                    if grown.count < end { grown += [UInt8](repeating: 0, count: end - grown.count) }
                    // The bytes are copied as a block, because copying single bytes would dominate the time of
                    // a run.
                    bytes.withUnsafeBytes { source in
                        let part = UnsafeRawBufferPointer(rebasing: source[(start - offset)..<(end - offset)])
                        grown.withUnsafeMutableBytes { target in
                            UnsafeMutableRawBufferPointer(rebasing: target[start..<end]).copyMemory(from: part)
                        }
                    }
                    isChanged = true
                }
                start = end
            }
            content = wasThere || isChanged ? grown : nil
        }
    }
}

/// An error of creating a simulated disk.
public enum FaultDiskError: Error {
    /// SQLite has no `unix` VFS, or refused to register another VFS.
    case noVFS
}
