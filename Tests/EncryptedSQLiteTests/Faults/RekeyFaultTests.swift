import CSQLite
import EncryptedSQLite
import FaultInjection
import Foundation
import Secrets
import Testing

@Suite("Re-keying on a disk that fails")
struct RekeyFaultTests {
    private let old = EncryptionKey.generate()
    private let new = EncryptionKey.generate()

    /// Returns a database with the old key, and its disk.
    private func database() throws -> (folder: Folder, path: String, disk: FaultDisk) {
        FaultDisk.register()
        try EncryptedDatabase.stack(over: FaultDisk.vfsName)
        let folder = try Folder(inMemory: true)
        let path = folder.path("a.db")
        try EncryptedDatabase.create(at: path, key: .key(old))
        return (folder, path, try FaultDisk(folder: folder.url.path))
    }

    private func opens(_ path: String, _ key: EncryptionKey) -> Bool {
        (try? EncryptedDatabase.unlock(at: path, with: .key(key))) != nil
    }

    @Test("A failed key change leaves the old key, or both keys must be kept")
    func everyOperation() throws {
        let (folder, path, whole) = try database()
        try EncryptedDatabase.rekey(at: path, from: .key(old), to: .key(new))
        let count = whole.operations
        withExtendedLifetime(folder) {}
        #expect(count >= 4)
        var (failures, doubts) = (0, 0)
        for number in 1...count {
            let faults: [Fault] = [
                .failedSync(at: number), .shortWrite(at: number), .diskFull(from: number), .crash(at: number),
            ]
            for fault in faults {
                let (folder, path, disk) = try database()
                disk.break(fault)
                let outcome = Result { () throws(EncryptedDatabaseError) in
                    try EncryptedDatabase.rekey(at: path, from: .key(old), to: .key(new))
                }
                func check(_ folder: Folder, _ place: Comment) {
                    let (oldOpens, newOpens) = (opens(folder.path("a.db"), old), opens(folder.path("a.db"), new))
                    switch outcome {
                    case .success: #expect(newOpens && !oldOpens, place)
                    case .failure(.keyInDoubt): #expect(oldOpens != newOpens, place)
                    case .failure: #expect(oldOpens && !newOpens, place)
                    }
                }
                switch outcome {
                case .success: break
                case .failure(.keyInDoubt): doubts += 1
                case .failure: failures += 1
                }
                // A disk without power cannot be read.
                if !disk.isOver { check(folder, "\(fault)") }
                // The reported result must also hold if the power fails now.
                for remains in Remains.allCases {
                    let rest = try Folder(inMemory: true)
                    try disk.restart(into: rest.url.path, with: remains)
                    check(rest, "\(fault) \(remains)")
                }
                withExtendedLifetime(folder) {}
            }
        }
        #expect(failures > 0)
        #expect(doubts > 0)
    }

    @Test("An old key that could not be erased opens nothing, and the next change overwrites it")
    func notWiped() throws {
        let (folder, path, disk) = try database()
        // The operations are the write of the new slot, its sync, and two attempts to erase the old slot.
        disk.break(.crash(at: 3))
        try EncryptedDatabase.rekey(at: path, from: .key(old), to: .key(new))
        let rest = try Folder(inMemory: true)
        try disk.restart(into: rest.url.path, with: .nothing)
        #expect(!opens(rest.path("a.db"), old) && opens(rest.path("a.db"), new))
        let third = EncryptionKey.generate()
        try EncryptedDatabase.rekey(at: rest.path("a.db"), from: .key(new), to: .key(third))
        #expect(opens(rest.path("a.db"), third))
        #expect(try EncryptedDatabase.verify(at: rest.path("a.db")) == [])
        withExtendedLifetime(folder) {}
    }
}
