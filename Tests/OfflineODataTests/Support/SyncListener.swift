import OfflineOData
import Synchronization

/// Keeps what a store tells of a synchronisation.
final class SyncListener: OfflineStoreDelegate {
    private let heard = Mutex<[SyncProgress]>([])
    private let ended = Mutex<[UploadReport]>([])

    var progress: [SyncProgress] { heard.withLock { $0 } }
    var earlyEnds: [UploadReport] { ended.withLock { $0 } }

    func offlineStore(_ store: OfflineStore, didUpdate progress: SyncProgress) {
        heard.withLock { $0.append(progress) }
    }

    func offlineStore(_ store: OfflineStore, uploadDidEndEarly report: UploadReport) {
        ended.withLock { $0.append(report) }
    }
}
