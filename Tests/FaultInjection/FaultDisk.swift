import CSQLite
import Foundation
import Synchronization

/// A folder as a disk that fails: what SQLite does to the files in it through the VFS ``vfsName`` is counted, is made to
/// fail, and is remembered until it is synced, so that one can have the folder as it is after the power failed.
///
/// ```swift
/// let disk = try FaultDisk(folder: folder)
/// disk.break(.crash(at: 17))
/// try? work(in: folder)
/// try disk.restart(into: otherFolder, with: .sectors(seed: 3))  // open that, and look
/// ```
///
/// Files that came into being otherwise than through SQLite count as durable. Files of other folders are SQLite's `unix`
/// VFS's alone. The operating system's files hold what a running program sees; they are never synced in truth.
public final class FaultDisk: Sendable {
    /// The name of the VFS; see also ``register()``.
    public static let vfsName = "outpost-faults"

    /// The folder, without symbolic links.
    public let folder: String
    private let state = Mutex(State())

    private struct State {
        var files: [String: DiskFile] = [:]
        var operations = 0
        var fault: Fault?
        /// Whether the present fault has happened.
        var hasFired = false
        /// The faults that have happened.
        var fired: [Fault] = []
        var isOver = false

        /// Whether the power fails at the present operation.
        var powerFails: Bool {
            switch fault {
            case .crash(let number)?, .lyingSync(_, let number)?: operations >= number
            default: false
            }
        }

        /// Counts the present fault, which lasts, once.
        mutating func fire() {
            guard !hasFired, let fault else { return }
            hasFired = true
            fired.append(fault)
        }

        /// The power fails.
        mutating func end() {
            isOver = true
            fire()
        }

        /// Counts the present fault, which happens once.
        mutating func endFault() {
            fire()
            fault = nil
        }
    }

    /// What is known of one file.
    struct DiskFile {
        /// What is there after the power failed, whatever else; nil when not even its name is.
        var durable: [UInt8]?
        /// What was done since, in order.
        var changes: [Change] = []
        /// How many of the first changes a sync that failed was to make durable. Programs see them, and no later sync makes them
        /// durable: the system takes them for written.
        var lostCount = 0

        /// Whether its name is not durable yet.
        var isNew: Bool { durable == nil || lastDeletion != nil }

        private var lastDeletion: Int? {
            changes.lastIndex { if case .delete = $0 { true } else { false } }
        }

        /// What was deleted stays so.
        mutating func deleteDurably() {
            guard let last = lastDeletion else { return }
            durable = nil
            changes.removeFirst(last + 1)
            lostCount = max(0, lostCount - last - 1)
        }

        /// Makes durable what can be, after a sync.
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
    /// - Throws: When the VFS cannot be registered.
    public init(folder: String) throws {
        guard Self.register() == SQLITE_OK else { throw FaultDiskError.noVFS }
        self.folder = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
        FaultVFS.disks.withLock { [self] in $0[self.folder] = WeakDisk(disk: self) }
    }

    deinit {
        let folder = folder
        FaultVFS.disks.withLock { _ = $0.removeValue(forKey: folder) }
    }

    /// Registers the VFS, which is SQLite's `unix` VFS for all folders that are no such disk.
    @discardableResult
    public static func register() -> Int32 { FaultVFS.registration }

    /// Makes it fail from now on; operations count on.
    public func `break`(_ fault: Fault) {
        state.withLock { state in
            state.fault = fault
            state.hasFired = false
        }
    }

    /// Lets everything succeed again. A disk that crashed stays so: restart it.
    public func mend() { state.withLock { $0.fault = nil } }

    /// How many operations there were.
    public var operations: Int { state.withLock { $0.operations } }

    /// The faults that have happened so far, in order: each is there once, however many operations it makes fail.
    public var fired: [Fault] { state.withLock { $0.fired } }

    /// Whether something fails now, or will.
    public var isBroken: Bool { state.withLock { $0.isOver || $0.fault != nil } }

    /// Whether the power has failed.
    public var isOver: Bool { state.withLock { $0.isOver } }

    // MARK: What the VFS asks

    /// What becomes of an operation.
    enum Verdict {
        case goes
        /// A write that is half done, or a sync that makes nothing durable; then the result code.
        case half(Int32)
        case fails(Int32)
        /// A sync that says it was done.
        case lies
    }

    func opened(_ path: String) {
        state.withLock { state in
            guard state.files[path] == nil else { return }
            let content = FileManager.default.contents(atPath: path).map { [UInt8]($0) }
            // An empty file is one that SQLite has just made: nothing of it is durable.
            state.files[path] = DiskFile(durable: content?.isEmpty == false ? content : nil)
        }
    }

    /// Decides about a write; `grows` tells whether the file becomes longer.
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

    /// Decides about a truncation or a deletion, which is durable at once if the folder is synced with it.
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
                // What is dirty now is taken for written by the system, and no later sync tries it again.
                if let count = state.files[path]?.changes.count { state.files[path]?.lostCount = count }
                return .fails(SQLITE_IOERR | 4 << 8)  // SQLITE_IOERR_FSYNC
            case .lyingSync(let number, _)? where state.operations >= number:
                state.fire()
                return .lies
            default:
                var file = state.files[path] ?? DiskFile()
                if file.isNew, path.hasSuffix("-wal") || path.hasSuffix("-journal") {
                    // SQLite syncs the folder with the first sync of a log or journal, and so what was deleted in it.
                    for name in state.files.keys where name != path { state.files[name]?.deleteDurably() }
                }
                // Nobody else holds the bytes meanwhile, so that they are changed where they are.
                state.files[path] = nil
                file.sync()
                state.files[path] = file
                return .goes
            }
        }
    }

    // MARK: After the power failed

    /// Writes the files as they are after the power failed, now, into another folder.
    ///
    /// The index of a log in shared memory (`-shm`) is gone then. Files that SQLite never opened are copied.
    ///
    /// - Parameters:
    ///   - target: A folder, made if it is missing.
    ///   - remains: What is left of what was not synced.
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
                // What was written after a deletion went into another file of the same name: where the deletion is
                // undone, the old file is there, and nothing of the new one.
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

    /// One change made to what is there, in those sectors of 512 bytes that `isKept` wants.
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
                    // Bytes are moved as memory: one by one, they would cost most of the time of a run.
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

/// Why there is no such disk.
public enum FaultDiskError: Error {
    /// SQLite has no `unix` VFS, or refused another.
    case noVFS
}
